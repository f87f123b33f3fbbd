// Zip archives, as far as NumPy's .npz files need them: members that are stored or deflated, below 4 GiB.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace retrace {

/// A file in an archive.
struct ZipMember {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;  // 0: stored, 8: deflated
  std::uint32_t crc = 0;     // of its bytes
  std::uint64_t packed = 0;  // bytes in the archive
  std::uint64_t size = 0;    // bytes of the member
  std::uint64_t offset = 0;  // of its header
};

/// Reads an archive. Errors begin with `who`, and with the member.
class ZipReader {
 public:
  /// Reads the list of members. Throws FileError for a file that cannot be read, is not an archive, is damaged or is
  /// larger than 4 GiB.
  ZipReader(const std::string& path, std::string who);

  const std::vector<ZipMember>& members() const { return members_; }
  /// The bytes of a member. Throws FileError for one that is damaged (its checksum is compared), encrypted, or
  /// compressed in another way than by deflate.
  std::string read(const ZipMember& member);

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  std::string bytes(std::uint64_t offset, std::uint64_t count);
  void read_list();

  std::string who_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
  std::vector<ZipMember> members_;
};

/// CRC-32 as in zip and gzip (IEEE 802.3), of bytes that follow others with the sum `before`.
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0);

}  // namespace retrace
