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

// MadeLock is a lock file that a client has made.
type MadeLock struct {
	Path    string
	Command string // by which a person makes it
	Text    []byte
}
