// Package patch parses unified diffs as git writes them. It uses the counts of each hunk to distinguish a file's
// lines from headings, whatever the lines contain: an added line "++ b/x" is not a heading.
//
// Each line of a patch is read once, at a cost linear in its size. The package applies no patch and reads no
// repository.
package patch
