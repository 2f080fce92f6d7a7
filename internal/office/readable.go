package office

import (
	"encoding/json"
	"strings"

	"company/internal/company"
	"company/internal/config"
	"company/internal/folder"
)

// placeReadable lays the readable files out: where company.yaml says, else where the
// office once began to keep them. What company.yaml says of anything else, and
// whether it may, is Load's to judge, before a file is written.
func (p *Paths) placeReadable() {
	r, setsRuntime, setsBacklog := config.LoadReadablePaths(p.Config)
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
	if was == nil || !config.IsReadablePlace(was.Runtime) || !config.IsReadablePlace(was.Backlog) {
		return
	}
	if !setsRuntime {
		r.Runtime = was.Runtime
	}
	if !setsBacklog {
		r.Backlog = was.Backlog
	}
	if r.Apart() {
		*p = p.WithReadable(r)
	}
}

// readRecord is office.json as far as it can be read; Open reports the fault.
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
func (p Paths) findLegacyFiles() *config.ReadablePaths {
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
	runs := has(config.LegacyRuntime+"/runs", "", func(s string) bool { return company.RunID(s).Valid() })
	tasks := has(config.LegacyRuntime+"/state", ".json", func(s string) bool { return company.TaskID(s).Valid() })
	tickets := has(config.LegacyBacklog, ".md", func(s string) bool { return company.SubtaskID(s).Valid() })
	r := config.ReadablePaths{Runtime: config.DefaultRuntime, Backlog: config.DefaultBacklog}
	if runs || tasks {
		r.Runtime = config.LegacyRuntime
	}
	if tickets {
		r.Backlog = config.LegacyBacklog
	}
	if r == (config.ReadablePaths{Runtime: config.DefaultRuntime, Backlog: config.DefaultBacklog}) {
		return nil
	}
	return &r
}
