package golang

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"company/internal/company"
	"company/internal/ecosystem"
)

// workspace is a go.work with the modules that it uses. The modules may require one another in versions that no
// registry has and that only the workspace replaces.
type workspace struct {
	dir      string
	modules  []string // folders with a go.mod in the tree
	replaced []string // local replacements of modules, as written in go.work
}

// readWorkspaces reads the go.work files. If a workspace vendors its dependencies, its modules count as vendored,
// too.
func (m *modules) readWorkspaces(vendor map[string]bool) error {
	for _, file := range m.locks {
		if path.Base(file) != "go.work" {
			continue
		}
		text, err := ecosystem.ReadText(m.s, file)
		if err != nil {
			return err
		}
		f, err := modfile.ParseWork("go.work", text, nil)
		if err != nil {
			continue // the go command reports the error
		}
		w := workspace{dir: path.Dir(file)}
		for _, u := range f.Use {
			if at := path.Join(w.dir, u.Path); !path.IsAbs(u.Path) && slices.Contains(m.dirs, at) {
				w.modules = append(w.modules, at)
				vendor[at] = vendor[at] || vendor[w.dir]
			}
		}
		for _, r := range f.Replace {
			if r.New.Version == "" {
				w.replaced = append(w.replaced, r.New.Path)
			}
		}
		if len(w.modules) > 0 && !vendor[w.dir] {
			m.works = append(m.works, w)
		}
	}
	return nil
}

// downloadWorkspaces downloads the combined dependencies of each workspace. It returns the modules that need no
// separate download.
func (m *modules) downloadWorkspaces(
	ctx context.Context, fetchHost ecosystem.FetchHost, env []string,
) (done map[string]bool, err error) {
	done = map[string]bool{}
	for _, workspace := range m.works {
		if !slices.ContainsFunc(workspace.modules, func(dir string) bool { return slices.Contains(m.download, dir) }) {
			continue
		}
		fetchHost.ReportProgress("downloading the Go modules of %s", path.Join(workspace.dir, "go.work"))
		err := workspace.downloadModules(ctx, fetchHost, env)
		switch {
		case err == nil:
			for _, dir := range workspace.modules {
				done[dir] = true
			}
		case ctx.Err() != nil, !isMissing(err): // every module would fail in the same way
			return nil, err
		default:
			fetchHost.Log(ctx, "a workspace cannot be downloaded as a whole", err)
		}
	}
	return done, nil
}

// downloadModules runs the go command in the workspace.
func (w workspace) downloadModules(ctx context.Context, fetchHost ecosystem.FetchHost, env []string) error {
	root := fetchHost.Places().Source
	for _, to := range w.replaced {
		if err := checkReplacement("go.work", root, filepath.Join(root, w.dir), to); err != nil {
			return err
		}
	}
	for _, dir := range w.modules {
		if err := checkReplaced(ctx, fetchHost, dir, env); err != nil {
			return err
		}
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, "GOWORK=") })
	return runDownload(ctx, fetchHost, w.dir, append(env, "GOWORK="+filepath.Join(root, w.dir, "go.work")))
}

// missingWords lists go command messages for modules that a registry does not have. They do not include an
// unreachable registry or a changed module.
var missingWords = []string{"404 Not Found", ": no such file or directory", "410 Gone", "unknown revision",
	"no matching versions", ": not found"}

// isMissing reports whether a download failed only because no registry has some modules.
func isMissing(err error) bool {
	text := err.Error()
	says := func(words string) bool { return strings.Contains(text, words) }
	return company.CodeOf(err) == company.EImage && slices.ContainsFunc(missingWords, says) &&
		!slices.ContainsFunc([]string{"SECURITY ERROR", "checksum mismatch", "outside the repository"}, says)
}
