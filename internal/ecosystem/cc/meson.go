package cc

import (
	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// Meson is the ecosystem of projects that Meson builds and tests.
type Meson struct{}

// Name returns the name of the toolchain.
func (Meson) Name() string { return "meson" }

// Programs lists the programs that need the toolchain.
func (Meson) Programs() []string { return []string{"meson", "ninja"} }

// Manifest returns the file that identifies a project.
func (Meson) Manifest() string { return "meson.build" }

func isMesonFile(name string) bool { return name == "meson.build" }

var (
	mesonComment = lazyregexp.New(`(?m)#.*$`)
	mesonProject = lazyregexp.New(`(?m)^\s*project\s*\(`)
	mesonTests   = lazyregexp.New(`(?m)(^|[\s.])test\s*\(`)
)

// Detect finds the projects that Meson builds. If a project has no tests, another build system in its folder handles
// it. If there is none, building is its check.
func (e Meson) Detect(tree *ecosystem.Tree, found []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range projectFolders(tree, found, e.Manifest()) {
		projectFiles := readMeson(tree, dir)
		if !projectFiles.isProject {
			continue
		}
		component := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Meson project"}
		switch {
		case projectFiles.hasTests:
			component.Test = testGate(projectFiles.buildCommand(), " --ninja-args=-k0",
				"meson test -C "+buildFolder(dir)+" --print-errorlogs",
				formatMeson)
		case ecosystem.Covering(found, dir) != nil:
			continue
		default:
			tree.AddNote("the Meson project in %s has no tests: that it builds is its check", ecosystem.DisplayDir(dir))
			component.Lint = &company.GateCommand{Command: projectFiles.buildCommand()}
		}
		projectFiles.noteDownloads(tree)
		if projectFiles.hasTests {
			tree.AddNote("Meson has sanitizers; to judge with one: gates.test: meson setup -Db_sanitize=address,undefined "+
				"-Db_lundef=false %s && meson test -C %[1]s", buildFolder(dir))
		}
		out = append(out, component)
	}
	return out
}

// mesonProjectFiles holds the files of a Meson project and the information from them.
type mesonProjectFiles struct {
	dir                 string
	files               []buildFile // without comments
	isProject, hasTests bool
}

// readMeson reads the files of a project.
func readMeson(t *ecosystem.Tree, dir string) *mesonProjectFiles {
	projectFiles := &mesonProjectFiles{dir: dir, files: readBuildFiles(t, dir, isMesonFile)}
	for i := range projectFiles.files {
		projectFiles.files[i].text = mesonComment.ReplaceAllString(projectFiles.files[i].text, "")
		if at, _ := ecosystem.SplitPath(projectFiles.files[i].path); at == dir {
			projectFiles.isProject = mesonProject.MatchString(projectFiles.files[i].text)
		}
	}
	projectFiles.hasTests = anyMatches(projectFiles.files, mesonTests)
	return projectFiles
}

// buildCommand returns a command that configures and builds without downloads.
func (p *mesonProjectFiles) buildCommand() string {
	at := buildFolder(p.dir)
	return "meson setup --wrap-mode=nodownload " + at + " && meson compile -C " + at + " -j " + buildJobs
}
