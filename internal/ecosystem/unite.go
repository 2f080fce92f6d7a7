package ecosystem

// Uniter is an ecosystem whose client writes files that two branches often change at once and that can be merged
// mechanically (SUB-19).
type Uniter interface {
	Ecosystem
	// Unites reports whether it merges files of this name. The name has no folder.
	Unites(name string) bool
	// Unite merges two sides of a file. base is their common ancestor and may be nil. It returns false if the sides
	// conflict or are unreadable. An agent or a person must then resolve the conflict. The result depends only on the
	// arguments.
	Unite(name string, base, ours, theirs []byte) (united []byte, ok bool)
}
