package ecosystem

import "bytes"

// HasMergeMarks reports whether a lock file contains merge conflict markers. Clients read such files differently:
// they merge the two sides or leave out lines.
func HasMergeMarks(text []byte) bool {
	return bytes.Contains(text, []byte("<<<<<<<")) || bytes.Contains(text, []byte(">>>>>>>"))
}
