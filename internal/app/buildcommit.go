package app

import (
	"runtime/debug"
	"strings"
)

// BuildCommit is the commit that the program was built from: the one that a release
// names, else what the go command found. It ends with -dirty where the tree had
// changes, and is empty where it is not known.
func BuildCommit(released string) string {
	if released != "" {
		return released
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}

// ShortCommit is a commit as people read it: twelve digits, and whether the tree had
// changes.
func ShortCommit(commit string) string {
	id, dirty, changed := strings.Cut(commit, "-")
	id = id[:min(len(id), 12)]
	if changed {
		id += "-" + dirty
	}
	return id
}
