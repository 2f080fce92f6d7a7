package app

import (
	"runtime/debug"
	"strings"
)

// BuildCommit returns the commit that the program was built from: the given one of a release, else
// the one recorded by the go command. It ends with -dirty if the work tree had changes, and is ""
// if unknown.
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

// ShortCommit shortens a commit to twelve digits and keeps -dirty.
func ShortCommit(commit string) string {
	id, dirty, changed := strings.Cut(commit, "-")
	id = id[:min(len(id), 12)]
	if changed {
		id += "-" + dirty
	}
	return id
}
