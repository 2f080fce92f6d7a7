package node

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// ciFolders lists folders with CI definitions. ciFiles lists CI definitions by their file names.
var (
	ciFolders = []string{".github/workflows", ".gitea/workflows", ".forgejo/workflows", ".circleci"}
	ciFiles   = []string{".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml",
		".woodpecker.yml"}
)

const (
	maxCIFiles         = 30 // definitions that are read at most
	maxPlaywrightCalls = 8  // calls of Playwright's runner that are checked at most, per package
)

var scriptCallRE = lazyregexp.New(
	`\b(?:npm|pnpm|yarn|bun)(?:[ \t]+-[\w-]+)*(?:[ \t]+run(?:-script)?)?[ \t]+([A-Za-z0-9][\w:.-]{0,39})`)

// playwrightCallRE matches a call of Playwright's runner in a definition, up to the first part that a shell
// or a matrix expands.
var playwrightCallRE = lazyregexp.New(
	`\b(?:npx|bunx|npm exec|pnpm|pnpm exec|yarn|yarn exec)(?:[ \t]+-[\w-]+)*[ \t]+playwright[ \t]+test((?:[ \t]+[\w@./:=,-]+)*)[ \t]*(\S?)`)

// commentedRE matches a comment line of a definition, which may contain a disabled call.
var commentedRE = lazyregexp.New(`(?m)^[ \t]*#.*$`)

// ciCalls holds the calls of a package's programs in CI definitions.
type ciCalls struct {
	scripts map[string]bool // by name
	// playwright lists the arguments of Playwright's runner, without duplicates.
	playwright []string
}

// findCICalls finds the calls in the CI definitions.
func findCICalls(tree *ecosystem.Tree) ciCalls {
	var files []string
	for _, dir := range ciFolders {
		for _, name := range slices.Sorted(slices.Values(tree.Dirs[dir])) {
			if ending := path.Ext(name); ending == ".yml" || ending == ".yaml" {
				files = append(files, path.Join(dir, name))
			}
		}
	}
	for _, name := range ciFiles {
		if tree.HasFile("", name) {
			files = append(files, name)
		}
	}
	out := ciCalls{scripts: map[string]bool{}}
	for _, file := range files[:min(len(files), maxCIFiles)] {
		text := commentedRE.ReplaceAllString(tree.ReadManifest("", file), "")
		for _, m := range scriptCallRE.FindAllStringSubmatch(text, maxProposed*maxScripts) {
			out.scripts[m[1]] = true
		}
		for _, m := range playwrightCallRE.FindAllStringSubmatch(text, maxProposed*maxScripts) {
			if m[2] != "" && !strings.ContainsAny(m[2], "#&;|)") {
				m[1] = "" // a matrix or a shell sets the rest: run all browsers that are available
			}
			if len(out.playwright) < maxPlaywrightCalls && !slices.Contains(out.playwright, m[1]) {
				out.playwright = append(out.playwright, m[1])
			}
		}
	}
	return out
}

// addCIParts adds scripts for parts of the tests that CI runs in addition to the test script, if their
// runners report test names.
func (s scriptChecks) addCIParts(checks *packageChecks) {
	for _, name := range slices.Sorted(maps.Keys(s.manifest.Scripts)) {
		if !partScriptRE.MatchString(name) || otherScriptRE.MatchString(name) || !s.ci.scripts[name] ||
			len(checks.tests) >= maxTestGates {
			continue
		}
		s.addPart(checks, "npm run "+name, partLabel(name))
	}
}

// addCIBrowsers adds direct calls of Playwright's runner in CI if no script of the package makes one. They
// are provisional, like other checks that only CI has: they count only if the base passes them.
func (s scriptChecks) addCIBrowsers(checks *packageChecks) {
	if !s.manifest.dependsOn("@playwright/test") || slices.Contains(checks.browsers, "playwright") {
		return
	}
	for i, args := range s.ci.playwright {
		label := "playwright"
		if i > 0 {
			label += " " + strconv.Itoa(i+1)
		}
		known := len(checks.tests)
		s.addPart(checks, "playwright test"+args, label)
		for _, added := range checks.tests[known:] {
			added.gate.Provisional = true
		}
	}
}

// addPart adds the checks of a command under a label, unless they are present already.
func (s scriptChecks) addPart(checks *packageChecks, command, label string) {
	own := s.manifest
	own.parted = true
	own.Scripts = maps.Clone(s.manifest.Scripts)
	if own.Scripts == nil {
		own.Scripts = map[string]string{}
	}
	delete(own.Scripts, "pretest")
	delete(own.Scripts, "posttest")
	own.Scripts["test"] = command
	part := &packageChecks{lints: checks.lints, types: checks.types}
	if !s.splitTests(own, part) || len(checks.tests)+len(part.tests) > maxTestGates {
		return
	}
	checks.lints, checks.types = part.lints, part.types
	checks.browsers = append(checks.browsers, part.browsers...)
	for _, g := range part.tests {
		if slices.ContainsFunc(checks.tests, func(known namedGate) bool {
			return known.gate.Report == g.gate.Report || known.label == g.label && g.label != ""
		}) {
			continue
		}
		if g.label == "" && len(checks.tests) > 0 {
			g.label = label
		}
		checks.tests = append(checks.tests, g)
	}
}

// partLabel returns the label for a part of the tests, from the name of its script.
func partLabel(script string) string {
	for _, prefix := range []string{"test:", "test-", "tests:"} {
		if rest, ok := strings.CutPrefix(script, prefix); ok && rest != "" {
			return rest
		}
	}
	return script
}
