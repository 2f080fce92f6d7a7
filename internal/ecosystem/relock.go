package ecosystem

// Relocker is an ecosystem whose client can regenerate a lock file that two branches have changed (SUB-19).
type Relocker interface {
	Ecosystem
	// Relocks reports whether it regenerates lock files of this name. The name has no folder.
	Relocks(name string) bool
	// Relock returns the client run for a lock file of a tree. The tree has the file of one side, and its versions stay
	// if the manifests allow them. It returns false if the file belongs to another client or names packages that no
	// registry has.
	Relock(s Sources, lock string) (r Resolution, ok bool, err error)
}

// LockConflict is a lock file that both sides of a merge have changed.
type LockConflict struct {
	Path               string
	Base, Ours, Theirs []byte // their texts
}

// MadeFile is a file that a client or a generator has made.
type MadeFile struct {
	Path    string `json:"path"`
	Command string `json:"command"` // the command with which a user makes it
	Text    []byte `json:"text"`
}

// Generated holds files that were generated from a tree, or the reason why there are none.
type Generated struct {
	Files []MadeFile `json:"files,omitempty"`
	Why   string     `json:"why,omitempty"`
	// MayPass means that another try may succeed, so the result is not cached.
	MayPass bool `json:"-"`
}

// Generator is an ecosystem whose files may state that a program of the project generates them (SUB-19).
type Generator interface {
	Ecosystem
	// Generates reports whether files of this name may be generated. The name has no folder.
	Generates(name string) bool
	// IsGenerated reports whether the text of a file states that it is generated.
	IsGenerated(text []byte) bool
	// GenerateCommands returns the commands that make a generated file. They run in the root of the tree. It returns an
	// empty list if the tree does not define them.
	GenerateCommands(t *Tree, file string) []string
}
