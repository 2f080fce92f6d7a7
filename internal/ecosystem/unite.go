package ecosystem

// Uniter is an ecosystem whose client writes files that two branches change at once, and
// that need no understanding to be brought together (SUB-19).
type Uniter interface {
	Ecosystem
	// Unites reports whether it brings files of this name together, without a folder.
	Unites(name string) bool
	// Unite brings two sides of a file together; base is what both come from, nil where
	// there was none. Not ok: the two exclude each other, or cannot be read, and an agent
	// or a person resolves it. The result depends on nothing but the arguments.
	Unite(name string, base, ours, theirs []byte) (united []byte, ok bool)
}
