package gates

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
	"company/internal/glob"
	"company/internal/lazyregexp"
	"company/internal/safetext"
)

// generation is what makes generated files of a merge anew.
type generation struct {
	of       company.OID             // the merge, with one side's text of the files
	in       map[string]gitops.Entry // the files of that tree
	files    map[string]string       // those in conflict, and the command of each
	commands []string                // in the order in which they are run
	rules    []generateRule
	guards   company.PlanRules // of paths that need the president's leave, and of those that may change
	tests    bool              // whether tests that are there change with leave alone
}

// generateRule is company.GenerateRule with its globs.
type generateRule struct {
	command string
	globs   []glob.Glob
}

// generateRules are those of a task's settings. What cannot be read covers nothing: the
// config was held to the same check.
func generateRules(t *company.Task) (out []generateRule) {
	if t == nil {
		return nil
	}
	for _, g := range t.Settings.Generate {
		rule := generateRule{command: g.Command}
		for _, p := range g.Paths {
			if parsed, err := glob.Parse(p); err == nil {
				rule.globs = append(rule.globs, parsed)
			}
		}
		out = append(out, rule)
	}
	return out
}

// findRule is the first rule that covers a file, or nil.
func findRule(rules []generateRule, name string) *generateRule {
	i := slices.IndexFunc(rules, func(g generateRule) bool {
		return slices.ContainsFunc(g.globs, func(p glob.Glob) bool { return p.Match(name) })
	})
	if i < 0 {
		return nil
	}
	return &rules[i]
}

// mayBeGenerated reports whether a file is generated as far as its name tells.
func mayBeGenerated(t *company.Task, name string) bool {
	return findRule(generateRules(t), name) != nil ||
		slices.ContainsFunc(catalog.Of[ecosystem.Generator](), func(e ecosystem.Generator) bool { return e.Generates(path.Base(name)) })
}

// isGenerated reports whether a file is generated: by the config, or by its own text.
func isGenerated(t *company.Task, name string, text []byte) bool {
	return findRule(generateRules(t), name) != nil || findGenerator(name, text) != nil
}

func findGenerator(name string, text []byte) ecosystem.Generator {
	for _, e := range catalog.Of[ecosystem.Generator]() {
		if e.Generates(path.Base(name)) && e.IsGenerated(text) {
			return e
		}
	}
	return nil
}

// remakeGenerated finishes a merge whose generated files are to be made anew; made is the
// merge with those of one side. Where that fails, the conflict stays, with the reason.
func (r *Runner) remakeGenerated(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, conflict, made Merged, files []string) (Merged, error) {
	g, why, err := findGeneration(ctx, t, m, made.Tree, files)
	if err != nil {
		return conflict, err
	}
	if why == "" {
		got, err := r.Files.RemakeGenerated(ctx, t, g.of, g.listInputs(t), func(ctx context.Context) (ecosystem.Generated, error) {
			return r.runGenerators(ctx, s, t, m, g)
		})
		if err != nil {
			return conflict, err
		}
		if why = got.Why; why == "" {
			done, err := addMade(ctx, m, made, got.Files)
			if company.CodeOf(err) != company.EGit {
				return done, err
			}
			why = "git does not take what was generated: " + err.Error() // a file in place of a folder
		}
	}
	r.Logger.InfoContext(ctx, "generated files are not made anew", "task", t.ID, "why", why)
	conflict.Why = safetext.EscapeLine(why, maxRemakeWhy)
	return conflict, nil
}

// findGeneration finds the commands that make files of a tree; why: one has none.
func findGeneration(ctx context.Context, t *company.Task, m *gitops.Mirror, tree company.OID, files []string) (g generation, why string, err error) {
	g = generation{of: tree, in: map[string]gitops.Entry{}, files: map[string]string{}, rules: generateRules(t),
		guards: company.PlanRules{Protected: t.Settings.Protected, Paths: t.Settings.Paths}, tests: t.Settings.ProtectTests}
	entries, err := m.List(ctx, tree)
	if err != nil {
		return g, "", err
	}
	for _, e := range entries {
		g.in[e.Path] = e
	}
	var own []string // of the config, in its order
	for _, rule := range g.rules {
		own = append(own, rule.command)
	}
	found := map[string]bool{}
	all, err := readTree(ctx, m, tree)
	if err != nil {
		return g, "", err
	}
	for _, name := range files {
		commands, err := g.listCommands(ctx, m, all, name)
		if err != nil {
			return g, "", err
		}
		if len(commands) == 0 {
			return g, name + " is generated, and nothing in the repository tells by which command (gates.generate can)", nil
		}
		g.files[name] = strings.Join(commands, "; ")
		for _, c := range commands {
			found[c] = true
		}
	}
	for _, c := range slices.Concat(own, slices.Sorted(maps.Keys(found))) {
		if found[c] {
			delete(found, c)
			g.commands = append(g.commands, c)
		}
	}
	if len(g.commands) > maxGenerators {
		return g, fmt.Sprintf("%d commands would have to be run", len(g.commands)), nil
	}
	return g, "", nil
}

// maxGenerators bounds the commands that are run for one merge.
const maxGenerators = 16

// listCommands are the commands that make a file.
func (g generation) listCommands(ctx context.Context, m *gitops.Mirror, all *ecosystem.Tree, name string) ([]string, error) {
	if rule := findRule(g.rules, name); rule != nil {
		return []string{rule.command}, nil
	}
	text, err := m.ReadFile(ctx, g.of, name)
	if err != nil {
		return nil, err
	}
	e := findGenerator(name, text)
	if e == nil {
		return nil, nil
	}
	commands := e.GenerateCommands(all, name)
	return commands, all.Err()
}

// markerRE matches the lines that git leaves around a conflict.
var markerRE = lazyregexp.New(`(?m)^(<<<<<<<|>>>>>>>|\|\|\|\|\|\|\|)( |\r?$)`)

// checkMade holds the files that commands have changed against what they may: those in
// conflict, those that the config says they make, and those that claimed before, and claim
// now, that they are generated. All in conflict must be there. It gives those that count,
// or why they do not.
func (g generation) checkMade(ctx context.Context, m *gitops.Mirror, changed []changedFile) (ecosystem.Generated, error) {
	var out ecosystem.Generated
	there := map[string]bool{}
	for _, f := range changed {
		made, why, err := g.checkFile(ctx, m, f)
		if err != nil {
			return out, err
		}
		if why != "" {
			return ecosystem.Generated{Why: why}, nil
		}
		if there[f.path] {
			return ecosystem.Generated{Why: f.path + " was made twice"}, nil
		}
		if there[f.path] = true; made != nil {
			out.Files = append(out.Files, *made)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.files)) {
		if !there[name] {
			return ecosystem.Generated{Why: describeCommands(g.commands) + " did not make " + name}, nil
		}
	}
	slices.SortFunc(out.Files, func(a, b ecosystem.MadeFile) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// checkFile checks one file; made is nil where it has the text that the tree has.
func (g generation) checkFile(ctx context.Context, m *gitops.Mirror, f changedFile) (made *ecosystem.MadeFile, why string, err error) {
	had, known := g.in[f.path]
	command, conflicts := g.files[f.path]
	var before []byte
	if known && had.Mode == gitops.ModeFile {
		if before, err = m.ReadFile(ctx, g.of, f.path); err != nil {
			return nil, "", err
		}
	}
	told := findGenerator(f.path, before)
	rule := findRule(g.rules, f.path)
	switch {
	case !conflicts && g.needsLeave(f.path, known):
		return nil, describeCommands(g.commands) + " changes " + f.path + ", too, which needs your leave", nil
	case !conflicts && g.guards.IsOutside(f.path):
		return nil, describeCommands(g.commands) + " changes " + f.path + ", too, which is outside of the task's folders (git.paths)", nil
	case rule != nil && slices.Contains(g.commands, rule.command):
		command = rule.command
	case conflicts:
	case known && told != nil:
		command = strings.Join(g.commands, "; ")
	default:
		return nil, describeCommands(g.commands) + " changes " + f.path + ", too, which is not known as generated", nil
	}
	switch {
	case !known && gitops.RefusePath(f.path) != "":
		return nil, describeCommands(g.commands) + " makes " + f.path + ", which " + gitops.RefusePath(f.path), nil
	case !f.plain || known && had.Mode != gitops.ModeFile:
		return nil, describeCommands(g.commands) + " makes " + f.path + ", which is no plain file", nil
	case told != nil && !told.IsGenerated(f.text):
		return nil, "what " + describeCommands(g.commands) + " makes of " + f.path + " does not say that it is generated", nil
	case markerRE.Match(f.text):
		return nil, "what " + describeCommands(g.commands) + " makes of " + f.path + " has marks of a conflict", nil
	case known && !conflicts && bytes.Equal(before, f.text):
		return nil, "", nil
	}
	return &ecosystem.MadeFile{Path: f.path, Command: command, Text: f.text}, "", nil
}

// listInputs are what decides, beside the tree and the image, which files are made of it:
// the commands, the files in conflict, and the settings that checkMade goes by.
func (g generation) listInputs(t *company.Task) []string {
	return append(slices.Clone(g.commands), fmt.Sprintf("%q", g.files), fmt.Sprintf("%q", t.Settings.Generate),
		fmt.Sprintf("%q %q %t", g.guards.Protected, g.guards.Paths, g.tests))
}

// needsLeave reports whether a file may change with the president's leave alone. It is not
// asked for here: a ticket's changes do not show the file.
func (g generation) needsLeave(name string, known bool) bool {
	return g.guards.IsProtected(name) || known && company.ChangesGuardedCode(company.Change{Path: name, Action: "modified"}) ||
		known && g.tests && company.IsTest(name)
}

// describeCommands names commands for people.
func describeCommands(commands []string) string {
	return "`" + safetext.EscapeLine(strings.Join(commands, "; "), 120) + "`"
}
