package node

import (
	_ "embed"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/shellquote"
)

// linkBrowsers links Debian's Chromium into the folders in which Playwright and Puppeteer look for their
// own.
//
//go:embed linkbrowsers.sh
var linkBrowsers string

// browserToolchain is the name of the toolchain with Chromium, for tests in a browser.
const browserToolchain = "browser"

// browserDir is the folder of the browsers in a fresh tree.
const browserDir = "/tmp/browsers"

// browserTools returns the toolchain for tests in a browser.
func browserTools() ecosystem.Toolchain {
	set := map[string]string{
		"PLAYWRIGHT_BROWSERS_PATH": browserDir, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1",
		"PLAYWRIGHT_SKIP_VALIDATE_HOST_REQUIREMENTS": "1",
		"PUPPETEER_SKIP_DOWNLOAD":                    "1",
	}
	for _, name := range []string{"CHROME_BIN", "CHROME_PATH", "PUPPETEER_EXECUTABLE_PATH"} {
		set[name] = path.Join(browserDir, "chromium")
	}
	return ecosystem.Toolchain{
		Name: browserToolchain, Title: "Chromium", Contents: "chromium", Packages: []string{"chromium", "fonts-liberation"},
		Env: ecosystem.Env{Set: set}, FreshTree: ecosystem.FreshTree{Links: linkBrowsers},
	}
}

var _ ecosystem.Needer = Ecosystem{}

// drivers lists packages with which tests of any runner can control a browser.
var drivers = []string{"puppeteer", "puppeteer-core", "jest-puppeteer", "playwright", "playwright-core",
	"@vitest/browser", "@vitest/browser-playwright"}

// Needs returns Chromium if one of the commands runs tests in a browser.
func (e Ecosystem) Needs(tree *ecosystem.Tree, need func(string) bool, commands []string) []string {
	if !need(e.Name()) {
		return nil
	}
	left := maxParsed
	for _, dir := range tree.FoldersWith("package.json") {
		text := tree.ReadManifest(dir, "package.json")
		var manifest packageJSON
		if _ = json.Unmarshal([]byte(text), &manifest); !manifest.mayDriveBrowser() {
			continue
		}
		manifest.useParts()
		for _, command := range commands {
			steps, _ := npm.readSteps(manifest, command, &left)
			for _, one := range steps {
				kind, program := one.classify()
				drives := kind == stepTests && manifest.drivesBrowser()
				if drives || kind == stepBrowser && slices.Contains(servedBrowsers, program) {
					return []string{browserToolchain}
				}
			}
		}
	}
	return nil
}

// mayDriveBrowser reports whether a package depends on a package that controls a browser.
func (p packageJSON) mayDriveBrowser() bool {
	return p.dependsOn("@playwright/test") || p.drivesBrowser()
}

// drivesBrowser reports whether tests of any runner may control a browser. A playwright library does not
// count if the package also depends on Playwright's own runner, which then uses it.
func (p packageJSON) drivesBrowser() bool {
	return slices.ContainsFunc(drivers, func(name string) bool {
		return p.dependsOn(name) && !(strings.HasPrefix(name, "playwright") && p.dependsOn("@playwright/test"))
	})
}

// servedBrowsers lists programs that can use Debian's Chromium.
var servedBrowsers = []string{"playwright"}

var (
	otherBrowserRE = lazyregexp.New(`(?i)\b(?:firefox|webkit|safari|ipad|iphone)\b`)
	chromiumRE     = lazyregexp.New(`(?i)chrom|\bpixel\b|\bgalaxy\b`)
	channelRE      = lazyregexp.New(`\bchannel\s*:`)
	projectNameRE  = lazyregexp.New(`\bname\s*:\s*['"]([\w .:-]{1,60})['"]`)
	commentRE      = lazyregexp.New(`(?m)/\*[\s\S]*?\*/|^\s*//.*$`)
	previewRE      = lazyregexp.New(`\bpreview\b`)
	buildRE        = lazyregexp.New(`\bbuild\b`)
)

// browserGate returns the check for a step that runs tests in a browser, after the steps that prepare for
// it. If gate is nil, reason says why.
func (s scriptChecks) browserGate(one step, program string, before []step) (gate *company.GateCommand, reason string) {
	if !slices.Contains(servedBrowsers, program) {
		return nil, "images have no browser that it finds"
	}
	if !s.isInstalled("@playwright/test") && !s.isInstalled("playwright") {
		return nil, "its package is not one of the dependencies"
	}
	config := ""
	for _, ending := range configEndings {
		config += s.tree.ReadManifest(s.dir, "playwright.config"+ending)
	}
	config = commentRE.ReplaceAllString(config, "")
	if channelRE.MatchString(config) {
		return nil, "its configuration asks for a browser of a vendor (channel)"
	}
	projects := ""
	if otherBrowserRE.MatchString(config) &&
		!slices.ContainsFunc(one.words, func(w string) bool { return strings.HasPrefix(w, "--project") }) {
		names := chromiumProjects(config)
		if len(names) == 0 {
			return nil, "its configuration names browsers other than Chromium alone"
		}
		for _, name := range names {
			projects += " " + shellquote.QuoteArgument("--project="+name)
		}
		s.tree.AddNote("%s: of the browsers of Playwright's configuration Chromium is run, which is Debian's (%s)",
			manifestIn(s.dir), ecosystem.PrintablePath(strings.TrimSpace(projects)))
	}
	command, runs := s.m.commandOf(one)+projects, one.text+projects
	if one.via != nil && one.via.steps == 1 {
		command = one.via.command
		if projects != "" {
			command += map[bool]string{true: projects,
				false: s.m.Arguments + projects}[strings.Contains(command, s.m.Arguments+" ")]
		}
	}
	// A preview server needs the build. CI definitions run it before the tests.
	if build := s.manifest.Scripts["build"]; build != "" && previewRE.MatchString(config) && !buildRE.MatchString(config) {
		if steps, ok := s.m.readSteps(s.manifest, build, s.left); ok {
			var all []string
			for _, b := range steps {
				all = append(all, b.text)
			}
			command, runs = s.m.Name+" run build && "+command, strings.Join(all, " && ")+" && "+runs
		}
	}
	for _, prepares := range slices.Backward(before) {
		runs = prepares.text + " && " + runs
		if prepares.via == nil || prepares.via != one.via {
			command = s.m.commandOf(prepares) + " && " + command
		}
	}
	gate = &company.GateCommand{Command: command, Parse: testreport.FormatJUnit,
		Probe: s.m.Probe("playwright") + " && test -x /usr/bin/chromium"}
	const env = "export CI=1 PLAYWRIGHT_JUNIT_OUTPUT_FILE=" + testreport.File + " PLAYWRIGHT_JUNIT_OUTPUT_NAME=" +
		testreport.File + "; "
	gate.Report = s.manifest.pinTexts(s.dir, env+runs+" --pass-with-no-tests --reporter=list,junit")
	if gate.Report == "" {
		gate.Parse = testreport.FormatPlain
	}
	return gate, ""
}

// chromiumProjects returns the names of those projects of Playwright's configuration that run in Chromium.
func chromiumProjects(config string) (names []string) {
	index := strings.Index(config, "projects")
	if index < 0 {
		return nil
	}
	config = config[index:]
	all := projectNameRE.FindAllStringSubmatchIndex(config, maxSteps)
	for i, m := range all {
		end := len(config)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		if body := config[m[0]:end]; chromiumRE.MatchString(body) && !otherBrowserRE.MatchString(body) {
			names = append(names, config[m[2]:m[3]])
		}
	}
	return names
}
