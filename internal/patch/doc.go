// Package patch reads unified diffs as git writes them. It tells the lines of a file
// from the headings between files by the counts of each hunk, whatever the lines
// hold: an added line "++ b/x" is no heading.
//
// It promises that each line of a patch is read once, at a cost linear in its size.
// It applies no patch and reads no repository.
package patch
