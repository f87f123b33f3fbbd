// A reader of files (readers.h) under libFuzzer: RETRACE_READER=npy fuzz_readers FOLDER..., or fuzz_readers --list.
// A reader may refuse a file by an error of Retrace's; anything else is a finding.
#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <retrace/core/base/error.h>
#include <retrace/tests/trust/readers.h>

namespace {

using namespace retrace;
namespace fs = std::filesystem;

const FileReader* reader = nullptr;
fs::path folder;

void remove_folder() { fs::remove_all(folder); }

const FileReader& chosen_reader() {
  const char* const name = std::getenv("RETRACE_READER");
  for (const FileReader& each : file_readers())
    if (name != nullptr && each.name == name) return each;
  std::cerr << "set RETRACE_READER to one of the names that fuzz_readers --list prints\n";
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  if (*count == 2 && std::strcmp((*arguments)[1], "--list") == 0) {
    for (const FileReader& each : file_readers()) std::cout << each.name << '\n';
    std::exit(0);
  }
  reader = &chosen_reader();
  folder = fs::temp_directory_path() / text("retrace_fuzz_", getpid());
  fs::create_directories(folder);
  std::atexit(remove_folder);
  // The first folder of the corpus has a valid file to begin with.
  if (*count > 1 && fs::is_directory((*arguments)[1]))
    std::ofstream(fs::path((*arguments)[1]) / "valid", std::ios::binary) << reader->valid();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  const std::string path = (folder / reader->file).string();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  try {
    reader->read(path);
  } catch (const Error&) {  // refused
  }
  return 0;
}
