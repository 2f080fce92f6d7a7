package ecosystem

// Relocker is an ecosystem whose client makes a lock file anew that two branches have
// changed (SUB-19).
type Relocker interface {
	Ecosystem
	// Relocks reports whether it makes files of this name anew, without a folder.
	Relocks(name string) bool
	// Relock is the run of the client for a lock file of a tree. The tree has the file of
	// one side, whose versions stay where the manifests allow them. Not ok: the file is
	// another client's, or names packages that no registry has.
	Relock(s Sources, lock string) (r Resolution, ok bool, err error)
}

// LockConflict is a lock file that two sides of a merge have changed.
type LockConflict struct {
	Path         string
	Ours, Theirs []byte // their texts
}

// MadeFile is a file that a client or a generator has made.
type MadeFile struct {
	Path    string `json:"path"`
	Command string `json:"command"` // by which a person makes it
	Text    []byte `json:"text"`
}

// Generated are files that were generated of a tree, or why there are none.
type Generated struct {
	Files []MadeFile `json:"files,omitempty"`
	Why   string     `json:"why,omitempty"`
	// MayPass says that another try may come to something else: it is not kept.
	MayPass bool `json:"-"`
}

// Generator is an ecosystem whose files tell that a program of the project makes them
// (SUB-19).
type Generator interface {
	Ecosystem
	// Generates reports whether files of this name, without a folder, may be generated.
	Generates(name string) bool
	// IsGenerated reports whether the text of a file tells that it is generated.
	IsGenerated(text []byte) bool
	// GenerateCommands are the commands, in the root of a tree, by which a generated file is
	// made. None: the tree does not tell.
	GenerateCommands(t *Tree, file string) []string
}
