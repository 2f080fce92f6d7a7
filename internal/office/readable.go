package office

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/folder"
)

// ReadablePaths says where the files lie that are made for people from the ledger.
// Both are relative to the folder that holds .company/.
type ReadablePaths struct {
	Runtime string `yaml:"runtime" check:"place" doc:"folder of runs/ and state/: a folder per run, a file per task"`
	Backlog string `yaml:"backlog" check:"place" doc:"folder of the tickets, a file per subtask"`
}

const (
	defaultRuntime = companyDir + "/runtime"
	defaultBacklog = companyDir + "/workflows/backlog"
	// Where they lay beside a company.yaml before there was paths, and where
	// most who name them want them.
	legacyRuntime = "runtime"
	legacyBacklog = "workflows/backlog"
)

// isReadablePlace says that readable files may lie in a folder: it is in the
// folder that holds .company/, and no tool that looks for hidden folders finds
// what agents wrote there.
func isReadablePlace(s string) bool {
	if s == defaultRuntime || s == defaultBacklog {
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
	case r.Runtime == defaultBacklog:
		ps = append(ps, problem{at: at("paths.runtime"), key: "paths.runtime", what: "is the folder of the tickets", found: strconv.Quote(r.Runtime), fix: "name another folder"})
	case r.Backlog == defaultRuntime:
		ps = append(ps, problem{at: at("paths.backlog"), key: "paths.backlog", what: "is the folder of the runs", found: strconv.Quote(r.Backlog), fix: "name another folder"})
	case within(r.Backlog, r.Runtime) || within(r.Runtime, r.Backlog):
		ps = append(ps, problem{at: at("paths.backlog"), key: "paths.backlog", what: "and paths.runtime lie one in the other", found: strconv.Quote(r.Backlog), fix: "name two folders side by side"})
	}
	return ps
}

// isUsualPlace reports whether a value is one that a repository may name by
// itself: its own place, or the usual one.
func isUsualPlace(key, value string) bool {
	usual := map[string][]string{"paths.runtime": {defaultRuntime, legacyRuntime}, "paths.backlog": {defaultBacklog, legacyBacklog}}
	for _, u := range usual[key] {
		if value == strconv.Quote(u) {
			return true
		}
	}
	return false
}

// placeReadable lays the readable files out: where company.yaml says, else where the
// office once began to keep them. What company.yaml says of anything else, and
// whether it may, is Load's to judge, before a file is written.
func (p *Paths) placeReadable() {
	l := loader{cfg: Default(), origin: map[string]string{}}
	if _, err := l.loadFile(p.Config, "paths"); err != nil || len(l.problems) > 0 || len(l.cfg.Paths.validateFolders(func(string) string { return "" })) > 0 {
		l = loader{cfg: Default()}
	}
	r := l.cfg.Paths
	*p = p.WithReadable(r)
	rec, ok := p.readRecord()
	if !ok || p.ownDir == p.Root {
		return
	}
	was := rec.Readable
	if rec.Layout == 0 { // nothing is written down: look
		was = p.findLegacyFiles()
		p.isLegacy = was != nil
	}
	if was == nil || !isReadablePlace(was.Runtime) || !isReadablePlace(was.Backlog) {
		return
	}
	if l.origin["paths.runtime"] == "" {
		r.Runtime = was.Runtime
	}
	if l.origin["paths.backlog"] == "" {
		r.Backlog = was.Backlog
	}
	if len(r.validateFolders(func(string) string { return "" })) == 0 {
		*p = p.WithReadable(r)
	}
}

// readRecord is office.json as far as it can be read; Open says what is wrong.
func (p Paths) readRecord() (officeFile, bool) {
	state, err := p.Folder(p.State)
	if err != nil {
		return officeFile{}, false
	}
	defer state.Close()
	var rec officeFile
	text, err := state.ReadFile(officeName, maxOfficeFile)
	return rec, err == nil && json.Unmarshal(text, &rec) == nil
}

// findLegacyFiles looks for files that an office left beside its company.yaml: a
// folder named after a run, the file of a task, the ticket of a subtask.
func (p Paths) findLegacyFiles() *ReadablePaths {
	base, err := folder.Open(p.parentDir)
	if err != nil {
		return nil
	}
	defer base.Close()
	has := func(dir, ext string, named func(string) bool) bool {
		entries, err := base.List(dir)
		if err != nil {
			return false
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ext); ok && named(name) {
				return true
			}
		}
		return false
	}
	runs := has(legacyRuntime+"/runs", "", func(s string) bool { return company.RunID(s).Valid() })
	tasks := has(legacyRuntime+"/state", ".json", func(s string) bool { return company.TaskID(s).Valid() })
	tickets := has(legacyBacklog, ".md", func(s string) bool { return company.SubtaskID(s).Valid() })
	r := ReadablePaths{Runtime: defaultRuntime, Backlog: defaultBacklog}
	if runs || tasks {
		r.Runtime = legacyRuntime
	}
	if tickets {
		r.Backlog = legacyBacklog
	}
	if r == (ReadablePaths{Runtime: defaultRuntime, Backlog: defaultBacklog}) {
		return nil
	}
	return &r
}
