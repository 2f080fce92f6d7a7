package cc

import (
	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// Meson is the ecosystem of projects that Meson builds and tests.
type Meson struct{}

// Name is the toolchain.
func (Meson) Name() string { return "meson" }

// Programs are the programs that need the toolchain.
func (Meson) Programs() []string { return []string{"meson", "ninja"} }

// Manifest is the file by which a project is known.
func (Meson) Manifest() string { return "meson.build" }

func isMesonFile(name string) bool { return name == "meson.build" }

var (
	mesonComment = lazyregexp.New(`(?m)#.*$`)
	mesonProject = lazyregexp.New(`(?m)^\s*project\s*\(`)
	mesonTests   = lazyregexp.New(`(?m)(^|[\s.])test\s*\(`)
)

// Detect finds the projects that Meson builds. One without tests is left to another
// build system in its folder; where there is none, that it builds is its check.
func (e Meson) Detect(t *ecosystem.Tree, found []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range projectFolders(t, found, e.Manifest()) {
		p := readMeson(t, dir)
		if !p.isProject {
			continue
		}
		c := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Meson project"}
		switch {
		case p.hasTests:
			c.Test = testGate(p.buildCommand(), " --ninja-args=-k0", "meson test -C "+buildFolder(dir)+" --print-errorlogs", formatMeson)
		case ecosystem.Covering(found, dir) != nil:
			continue
		default:
			t.AddNote("the Meson project in %s has no tests: that it builds is its check", ecosystem.DisplayDir(dir))
			c.Lint = &company.GateCommand{Command: p.buildCommand()}
		}
		p.noteDownloads(t)
		if p.hasTests {
			t.AddNote("Meson has sanitizers; to judge with one: gates.test: meson setup -Db_sanitize=address,undefined -Db_lundef=false %s && meson test -C %[1]s", buildFolder(dir))
		}
		out = append(out, c)
	}
	return out
}

// mesonProjectFiles are the files of a Meson project, and their meaning.
type mesonProjectFiles struct {
	dir                 string
	files               []buildFile // without comments
	isProject, hasTests bool
}

// readMeson reads the files of a project.
func readMeson(t *ecosystem.Tree, dir string) *mesonProjectFiles {
	p := &mesonProjectFiles{dir: dir, files: readBuildFiles(t, dir, isMesonFile)}
	for i := range p.files {
		p.files[i].text = mesonComment.ReplaceAllString(p.files[i].text, "")
		if at, _ := ecosystem.SplitPath(p.files[i].path); at == dir {
			p.isProject = mesonProject.MatchString(p.files[i].text)
		}
	}
	p.hasTests = anyMatches(p.files, mesonTests)
	return p
}

// buildCommand configures and builds, and downloads nothing.
func (p *mesonProjectFiles) buildCommand() string {
	at := buildFolder(p.dir)
	return "meson setup --wrap-mode=nodownload " + at + " && meson compile -C " + at + " -j " + buildJobs
}
