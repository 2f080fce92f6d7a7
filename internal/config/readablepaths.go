package config

import (
	"path/filepath"
	"strconv"
	"strings"
)

// ReadablePaths says where the files lie that are made for people from the ledger.
// Both are relative to the folder that holds .company/.
type ReadablePaths struct {
	Runtime string `yaml:"runtime" check:"place" doc:"folder of runs/ and state/: a folder per run, a file per task"`
	Backlog string `yaml:"backlog" check:"place" doc:"folder of the tickets, a file per subtask"`
}

const (
	DefaultRuntime = ".company/runtime"
	DefaultBacklog = ".company/workflows/backlog"
	// Where they lay beside a company.yaml before there was paths, and the
	// usual values of paths.
	LegacyRuntime = "runtime"
	LegacyBacklog = "workflows/backlog"
)

// IsReadablePlace says that readable files may lie in a folder: it is in the
// folder that holds .company/, and no tool that looks for hidden folders finds
// what agents wrote there.
func IsReadablePlace(s string) bool {
	if s == DefaultRuntime || s == DefaultBacklog {
		return true
	}
	if s == "" || len(s) > 200 || !filepath.IsLocal(s) || filepath.ToSlash(filepath.Clean(s)) != s || strings.ContainsAny(s, "*?[\\\"\n\r\t:") {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if strings.HasPrefix(part, ".") || strings.HasPrefix(part, "-") || part != strings.TrimSpace(part) || part == ConfigName {
			return false
		}
	}
	return true
}

// validateFolders refuses folders that would hold each other.
func (r ReadablePaths) validateFolders(at func(key string) string) problems {
	within := func(a, b string) bool { return a == b || strings.HasPrefix(a, b+"/") }
	var ps problems
	switch {
	case r.Runtime == DefaultBacklog:
		ps = append(ps, problem{at: at("paths.runtime"), key: "paths.runtime", what: "is the folder of the tickets", found: strconv.Quote(r.Runtime), fix: "name another folder"})
	case r.Backlog == DefaultRuntime:
		ps = append(ps, problem{at: at("paths.backlog"), key: "paths.backlog", what: "is the folder of the runs", found: strconv.Quote(r.Backlog), fix: "name another folder"})
	case within(r.Backlog, r.Runtime) || within(r.Runtime, r.Backlog):
		ps = append(ps, problem{at: at("paths.backlog"), key: "paths.backlog", what: "and paths.runtime lie one in the other", found: strconv.Quote(r.Backlog), fix: "name two folders side by side"})
	}
	return ps
}

// isUsualPlace reports whether a value is one that a repository may name by
// itself: its own place, or the usual one.
func isUsualPlace(key, value string) bool {
	usual := map[string][]string{"paths.runtime": {DefaultRuntime, LegacyRuntime}, "paths.backlog": {DefaultBacklog, LegacyBacklog}}
	for _, u := range usual[key] {
		if value == strconv.Quote(u) {
			return true
		}
	}
	return false
}

// LoadReadablePaths reads the section paths of one config file, and reports for
// each of its two keys whether the file sets it. A file that cannot be read, or
// whose folders are refused, counts as one that sets nothing: Load says why.
func LoadReadablePaths(file string) (r ReadablePaths, setsRuntime, setsBacklog bool) {
	l := loader{cfg: Default(), origin: map[string]string{}}
	if _, err := l.loadFile(file, "paths"); err != nil || len(l.problems) > 0 || !l.cfg.Paths.Apart() {
		return Default().Paths, false, false
	}
	return l.cfg.Paths, l.origin["paths.runtime"] != "", l.origin["paths.backlog"] != ""
}

// Apart reports whether no folder holds the other.
func (r ReadablePaths) Apart() bool {
	return len(r.validateFolders(func(string) string { return "" })) == 0
}
