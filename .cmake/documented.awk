# Lets Doxygen read the comments of this project as its readers do:
#   the comment at the head of a file describes the file;
#   a comment after a member describes it;
#   a comment above several declarations without a blank line between them describes all of them;
#   members without a comment are described with their struct, visit() in nn/module/module.h, and operators by their ops.
function ends_declaration(line) { return line ~ /[;{}:]$/ || line ~ /[;,}] +\/\/ / || line ~ /^ *(#|\/\/|$)/ }
function with_text(line, text) {
  match(line, /^ */)
  return substr(line, 1, RLENGTH) "/** " text " */ " substr(line, RLENGTH + 1)
}
# "Tensor q, k;  // text" as a declaration each.
function one_by_one(line,   comment, type, names, count, k, result) {
  comment = "Described with its type."
  if (match(line, / +\/\/ /)) { comment = substr(line, RSTART + RLENGTH); line = substr(line, 1, RSTART - 1) }
  sub(/;.*/, "", line)
  match(line, /[a-z_0-9]+(, [a-z_0-9]+)+$/)
  type = substr(line, 1, RSTART - 1)
  count = split(substr(line, RSTART), names, ", ")
  for (k = 1; k <= count; ++k) result = result type names[k] "; ///< " comment (k < count ? "\n" : "")
  return result
}
BEGIN { previous = ""; text = ""; in_type = 0; nested = 0; at_head = 1 }
{
  line = $0
  if (at_head && line !~ /^\/\//) at_head = 0
  if (at_head) { sub(/^\/\/ ?/, NR == 1 ? "/// @file\n/// " : "/// ", line); print line; next }
  if (line ~ /^ *\/\/\/ /) {
    comment = line; sub(/^ *\/\/\/ /, "", comment)
    text = previous ~ /^ *\/\/\/ / ? text " " comment : comment
    print line; previous = line; next
  }
  if (line ~ /^ *$/) text = ""
  if (line ~ /^(template <.*> )?(struct|class|enum class|enum) [^;]*\{$/) { in_type = 1; if (previous !~ /^ *\/\/\/ /) text = "" }
  else if (line ~ /^[^ }].*\{$/) in_type = 0
  else if (line ~ /^\};/) { in_type = 0; text = "" }

  if (in_type && line ~ /^  (struct|class) [^;]*\{$/) nested = 1
  else if (line ~ /^  \}/) nested = 0
  indent = match(line, /[^ ]/) - 1
  declares = (indent == 0 || (indent == 2 && in_type) || (indent == 4 && nested)) && ends_declaration(previous) && previous !~ /^ *\/\/\/ / &&
             line !~ /^ *(#|\/\/|\}|public:|private:|protected:|namespace|using namespace|friend class|requires|$)/
  if (in_type && line ~ /^  [A-Za-z_:<>0-9 ]+ [a-z_0-9]+(, [a-z_0-9]+)+;( .*)?$/) line = one_by_one(line)
  else if (line ~ /^  .*[^ ] +\/\/ / && line !~ /^ *\/\//) sub(/ \/\/ /, " ///< ", line)
  else if (declares && line ~ /void visit\(/) line = with_text(line, "Names every member that holds parameters: see Module.")
  else if (declares && line ~ /^inline Tensor operator/) line = with_text(line, "The op of this sign.")
  else if (declares && indent == 0 && text != "") line = with_text(line, text)
  else if (declares && indent > 0) line = with_text(line, text == "" || previous ~ /\{$/ ? "Described with its type." : text)
  print line
  previous = $0
}
