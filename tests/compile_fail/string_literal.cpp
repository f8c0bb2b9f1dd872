// An array cannot be a message, and a string literal is one.
// EXPECT: jzx: an array cannot be a message; send a std::string or a struct that holds it
#include <string>

#include <jzx/jzx.hpp>

struct Writer {
  std::string text;
  void on(std::string more) { text += more; }
};

void use(jzx::ActorRef<Writer> writer) {
  writer << std::string("text");
#ifdef JZX_MISTAKE
  writer << "text";
#endif
}
