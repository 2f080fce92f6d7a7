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
	"company/internal/company/glob"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
	"company/internal/lib/safetext"
)

// generation describes how to regenerate the generated files of a merge.
type generation struct {
	of       company.OID             // the merge, with one side's text of the files
	in       map[string]gitops.Entry // the files of that tree
	files    map[string]string       // the files in conflict, with the command of each
	commands []string                // in the order in which they are run
	rules    []generateRule
	guards   company.PlanRules // paths that need the president's approval, and paths that may change
	tests    bool              // whether existing tests may change only with approval
}

// generateRule is company.GenerateRule with parsed globs.
type generateRule struct {
	command string
	globs   []glob.Glob
}

// generateRules returns the rules of a task's settings. Globs that cannot be parsed match no file; the config was
// validated by the same parser.
func generateRules(task *company.Task) (out []generateRule) {
	if task == nil {
		return nil
	}
	for _, g := range task.Settings.Generate {
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

// findRule returns the first rule that covers a file, or nil.
func findRule(rules []generateRule, name string) *generateRule {
	i := slices.IndexFunc(rules, func(g generateRule) bool {
		return slices.ContainsFunc(g.globs, func(p glob.Glob) bool { return p.Match(name) })
	})
	if i < 0 {
		return nil
	}
	return &rules[i]
}

// mayBeGenerated reports whether a file may be generated, judging by its name only.
func mayBeGenerated(t *company.Task, name string) bool {
	return findRule(generateRules(t), name) != nil ||
		slices.ContainsFunc(catalog.Of[ecosystem.Generator](),
			func(e ecosystem.Generator) bool { return e.Generates(path.Base(name)) })
}

// isGenerated reports whether a file is generated, judging by the config or by its text.
func isGenerated(t *company.Task, name string, text []byte) bool {
	return findRule(generateRules(t), name) != nil || findGenerator(name, text) != nil
}

func findGenerator(name string, text []byte) ecosystem.Generator {
	for _, generator := range catalog.Of[ecosystem.Generator]() {
		if generator.Generates(path.Base(name)) && generator.IsGenerated(text) {
			return generator
		}
	}
	return nil
}

// remakeGenerated finishes a merge by regenerating its generated files. made is the merge with the files of one side.
// On failure the conflict remains, with the reason.
func (r *Runner) remakeGenerated(
	ctx context.Context, state *company.State, task *company.Task, mirror *gitops.Mirror, conflict, made Merged,
	files []string,
) (Merged, error) {
	generation, reason, err := findGeneration(ctx, task, mirror, made.Tree, files)
	if err != nil {
		return conflict, err
	}
	if reason == "" {
		got, err := r.Files.RemakeGenerated(
			ctx, task, generation.of, generation.listInputs(task), func(ctx context.Context) (ecosystem.Generated, error) {
				return r.runGenerators(ctx, state, task, mirror, generation)
			})
		if err != nil {
			return conflict, err
		}
		if reason = got.Why; reason == "" {
			done, err := addMade(ctx, mirror, made, got.Files)
			if company.CodeOf(err) != company.EGit {
				return done, err
			}
			reason = "git does not take what was generated: " + err.Error() // a file in place of a folder
		}
	}
	r.Logger.InfoContext(ctx, "generated files are not regenerated", "task", task.ID, "why", reason)
	conflict.Why = safetext.EscapeLine(reason, maxRemakeWhy)
	return conflict, nil
}

// findGeneration finds the commands that make files of a tree. reason is set if a file has no command or there are
// too many commands.
func findGeneration(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror, tree company.OID, files []string,
) (g generation, reason string, err error) {
	g = generation{of: tree, in: map[string]gitops.Entry{}, files: map[string]string{}, rules: generateRules(task),
		guards: company.PlanRules{Protected: task.Settings.Protected, Paths: task.Settings.Paths},
		tests:  task.Settings.ProtectTests}
	entries, err := mirror.List(ctx, tree)
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
	all, err := readTree(ctx, mirror, tree)
	if err != nil {
		return g, "", err
	}
	for _, name := range files {
		commands, err := g.listCommands(ctx, mirror, all, name)
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

// maxGenerators limits the commands that are run for one merge.
const maxGenerators = 16

// listCommands returns the commands that make a file.
func (g generation) listCommands(
	ctx context.Context, mirror *gitops.Mirror, all *ecosystem.Tree, name string,
) ([]string, error) {
	if rule := findRule(g.rules, name); rule != nil {
		return []string{rule.command}, nil
	}
	text, err := mirror.ReadFile(ctx, g.of, name)
	if err != nil {
		return nil, err
	}
	generator := findGenerator(name, text)
	if generator == nil {
		return nil, nil
	}
	commands := generator.GenerateCommands(all, name)
	return commands, all.Err()
}

// checkMade validates the files that commands have changed. Allowed are files in conflict, files that the config
// assigns to the commands, and files that are marked as generated both before and after. All files in conflict must
// be present. It returns the changed files, or the reason for a refusal.
func (g generation) checkMade(
	ctx context.Context, mirror *gitops.Mirror, changed []changedFile,
) (ecosystem.Generated, error) {
	var out ecosystem.Generated
	there := map[string]bool{}
	for _, f := range changed {
		made, reason, err := g.checkFile(ctx, mirror, f)
		if err != nil {
			return out, err
		}
		if reason != "" {
			return ecosystem.Generated{Why: reason}, nil
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

// checkFile checks one file. made is nil if its text is unchanged.
func (g generation) checkFile(
	ctx context.Context, mirror *gitops.Mirror, f changedFile,
) (made *ecosystem.MadeFile, reason string, err error) {
	had, known := g.in[f.path]
	command, conflicts := g.files[f.path]
	var before []byte
	if known && had.Mode == gitops.ModeFile {
		if before, err = mirror.ReadFile(ctx, g.of, f.path); err != nil {
			return nil, "", err
		}
	}
	told := findGenerator(f.path, before)
	rule := findRule(g.rules, f.path)
	switch {
	case !conflicts && g.needsLeave(f.path, known):
		return nil, describeCommands(g.commands) + " changes " + f.path + ", too, which needs your leave", nil
	case !conflicts && g.guards.IsOutside(f.path):
		return nil, describeCommands(g.commands) + " changes " + f.path +
			", too, which is outside of the task's folders (git.paths)", nil
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
		return nil, describeCommands(g.commands) + " makes " + f.path + ", which is not a regular file", nil
	case told != nil && !told.IsGenerated(f.text):
		return nil, "what " + describeCommands(g.commands) + " makes of " + f.path + " does not say that it is generated", nil
	case hasNewMarker(f.text, before):
		return nil, "what " + describeCommands(g.commands) + " makes of " + f.path + " has marks of a conflict", nil
	case known && !conflicts && bytes.Equal(before, f.text):
		return nil, "", nil
	}
	return &ecosystem.MadeFile{Path: f.path, Command: command, Text: f.text}, "", nil
}

// hasNewMarker reports whether a made text has a conflict marker that its earlier text lacks.
func hasNewMarker(text, before []byte) bool {
	marker, _ := gitops.FindNewMarker([4]string{string(text), string(before)}, gitops.MarkerSize)
	return marker != ""
}

// listInputs returns everything, beside the tree and the image, that determines the generated files: the commands,
// the files in conflict, and the settings that checkMade uses.
func (g generation) listInputs(t *company.Task) []string {
	return append(slices.Clone(g.commands), fmt.Sprintf("%q", g.files), fmt.Sprintf("%q", t.Settings.Generate),
		fmt.Sprintf("%q %q %t", g.guards.Protected, g.guards.Paths, g.tests))
}

// needsLeave reports whether a file may change only with the president's approval. Approval is not requested here,
// because the subtask's changes do not include the file.
func (g generation) needsLeave(name string, known bool) bool {
	return g.guards.IsProtected(name) ||
		known && company.ChangesGuardedCode(company.Change{Path: name, Action: "modified"}) ||
		known && g.tests && company.IsTest(name)
}

// describeCommands formats commands for people.
func describeCommands(commands []string) string {
	return "`" + safetext.EscapeLine(strings.Join(commands, "; "), 120) + "`"
}
