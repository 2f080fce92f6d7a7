package gates

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitopstest"
)

// The drivers of the task's base count, and no agent's; a lock file is made again whatever driver it has; one that is
// a program is named and its file stays a conflict.
func TestMergeHeadsByDriver(t *testing.T) {
	t.Parallel()
	const attributes = "union merge=union\nmine merge=ours\n*.json -merge\nforeign merge=npm-merge-driver\nwhole merge=binary\n"
	files := func(text string, names ...string) map[string]string {
		out := map[string]string{}
		for _, name := range names {
			out[name] = text
		}
		return out
	}
	base := files("base\n", "union", "mine", "package-lock.json", "foreign", "whole", "plain")
	base[".gitattributes"] = attributes
	p := gitopstest.New(t, base)
	task := &company.Task{ID: "t1", Prepared: &company.TaskPrepared{Base: company.Base{OID: p.Base}}}
	for name, c := range map[string]struct {
		files   []string
		clean   bool
		texts   map[string]string
		remade  string // paths
		drivers string // .gitattributes of their side
		logged  string
	}{
		"union":                  {files: []string{"union"}, clean: true, texts: map[string]string{"union": "ours\ntheirs\n"}},
		"ours":                   {files: []string{"mine"}, clean: true, texts: map[string]string{"mine": "ours\n"}, remade: "mine"},
		"a lock file":            {files: []string{"package-lock.json"}, clean: true, remade: "package-lock.json"},
		"all of these":           {files: []string{"package-lock.json", "mine", "union"}, clean: true, remade: "package-lock.json mine"},
		"a binary one":           {files: []string{"whole"}},
		"ours beside a conflict": {files: []string{"mine", "plain"}},
		"a program":              {files: []string{"foreign"}, logged: "npm-merge-driver"},
		"an agent's union":       {files: []string{"plain"}, drivers: "plain merge=union\n"},
		"an agent's ours":        {files: []string{"plain"}, drivers: "plain merge=ours\n"},
		"an agent that unsets":   {files: []string{"union"}, clean: true, drivers: "union -merge\n"},
	} {
		branch := strings.NewReplacer(" ", "-", "'", "").Replace(name)
		ours := p.Commit(branch+"-ours", files("ours\n", c.files...))
		change := files("theirs\n", c.files...)
		if c.drivers != "" {
			change[".gitattributes"] = attributes + c.drivers
		}
		theirs := p.Commit(branch+"-theirs", change)
		var log bytes.Buffer
		runner := &Runner{Logger: slog.New(slog.NewTextHandler(&log, nil)), Files: &clientOf{}}
		got, err := runner.MergeHeads(t.Context(), nil, task, p.Mirror, ours, theirs)
		var remade []string
		for _, file := range got.Remade {
			remade = append(remade, file.Path)
			if kept := file.Path == "mine"; kept != (file.Command == company.KeptByRule) || kept != (file.Of == "") {
				t.Errorf("%s: recorded %+v", name, file)
			}
		}
		if err != nil || got.Clean != c.clean || strings.Join(remade, " ") != c.remade ||
			(c.logged == "") != (log.Len() == 0) || !strings.Contains(log.String(), c.logged) {
			t.Errorf("%s: %+v, %v, log %q", name, got, err, log.String())
		}
		for file, want := range c.texts {
			if text, err := p.Mirror.ReadFile(t.Context(), got.Tree, file); err != nil || string(text) != want {
				t.Errorf("%s: %s is %q, %v", name, file, text, err)
			}
		}
	}
}
