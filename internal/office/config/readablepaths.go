package config

import (
	"path/filepath"
	"strconv"
	"strings"
)

// ReadablePaths sets the folders of the readable files, which are generated from the ledger. Both are relative to the
// folder that contains .company/.
type ReadablePaths struct {
	Runtime string `yaml:"runtime" check:"place" doc:"folder for runs/ and state/"`
	Backlog string `yaml:"backlog" check:"place" doc:"folder for tickets"`
}

const (
	DefaultRuntime = ".company/runtime"
	DefaultBacklog = ".company/workflows/backlog"
	// Folders beside company.yaml, for an office that shows them.
	shownRuntime = "runtime"
	shownBacklog = "workflows/backlog"
)

// IsReadablePlace reports whether a folder may contain readable files. It must be below the folder that contains
// .company/. Apart from the defaults it must not be hidden, so that tools that search hidden folders do not find files
// of agents.
func IsReadablePlace(s string) bool {
	if s == DefaultRuntime || s == DefaultBacklog {
		return true
	}
	if s == "" || len(s) > 200 || !filepath.IsLocal(s) || filepath.ToSlash(filepath.Clean(s)) != s ||
		strings.ContainsAny(s, "*?[\\\"\n\r\t:") {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if strings.HasPrefix(part, ".") || strings.HasPrefix(part, "-") || part != strings.TrimSpace(part) ||
			part == ConfigName {
			return false
		}
	}
	return true
}

// validateFolders refuses folders that contain each other.
func (r ReadablePaths) validateFolders(at func(key string) string) problems {
	within := func(a, b string) bool { return a == b || strings.HasPrefix(a, b+"/") }
	var ps problems
	switch {
	case r.Runtime == DefaultBacklog:
		ps = append(
			ps, problem{at: at("paths.runtime"), key: "paths.runtime", what: "is the folder of the tickets",
				found: strconv.Quote(r.Runtime), fix: "name another folder"})
	case r.Backlog == DefaultRuntime:
		ps = append(
			ps, problem{at: at("paths.backlog"), key: "paths.backlog", what: "is the folder of the runs",
				found: strconv.Quote(r.Backlog), fix: "name another folder"})
	case within(r.Backlog, r.Runtime) || within(r.Runtime, r.Backlog):
		ps = append(ps, problem{at: at("paths.backlog"), key: "paths.backlog", what: "and paths.runtime lie one in the " +
			"other", found: strconv.Quote(r.Backlog), fix: "name two folders side by side"})
	}
	return ps
}

// isUsualPlace reports whether a repository may set a value without trust: the default or the usual visible folder.
func isUsualPlace(key, value string) bool {
	usual := map[string][]string{"paths.runtime": {DefaultRuntime, shownRuntime},
		"paths.backlog": {DefaultBacklog, shownBacklog}}
	for _, u := range usual[key] {
		if value == strconv.Quote(u) {
			return true
		}
	}
	return false
}

// LoadReadablePaths reads the section paths of one config file. It returns the defaults if the file cannot be read or
// its folders are refused. Load reports the reason.
func LoadReadablePaths(file string) ReadablePaths {
	l := loader{cfg: Default(), origin: map[string]string{}}
	if _, err := l.loadFile(file, "paths"); err != nil || len(l.problems) > 0 ||
		len(l.cfg.Paths.validateFolders(func(string) string { return "" })) > 0 {
		return Default().Paths
	}
	return l.cfg.Paths
}
