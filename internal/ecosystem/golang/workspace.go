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

// workspace is a go.work and the modules that it uses. They may need one another in
// versions that no registry has, and that it alone replaces.
type workspace struct {
	dir      string
	modules  []string // folders of the tree that have a go.mod
	replaced []string // folders that it puts in place of modules, as it says them
}

// readWorkspaces reads the go.work files. The modules of one that carries its
// dependencies along are vendored, too.
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
			continue // the go command says what is wrong with it
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

// downloadWorkspaces downloads what the modules of workspaces need together, and
// gives the modules that need no download of their own any more.
func (m *modules) downloadWorkspaces(ctx context.Context, h ecosystem.FetchHost, env []string) (done map[string]bool, err error) {
	done = map[string]bool{}
	for _, w := range m.works {
		if !slices.ContainsFunc(w.modules, func(dir string) bool { return slices.Contains(m.download, dir) }) {
			continue
		}
		h.ReportProgress("downloading the Go modules of %s", path.Join(w.dir, "go.work"))
		err := w.downloadModules(ctx, h, env)
		switch {
		case err == nil:
			for _, dir := range w.modules {
				done[dir] = true
			}
		case ctx.Err() != nil, !isMissing(err): // each of them would end so
			return nil, err
		default:
			h.Log(ctx, "a workspace cannot be downloaded as a whole", err)
		}
	}
	return done, nil
}

// downloadModules runs the go command in the workspace.
func (w workspace) downloadModules(ctx context.Context, h ecosystem.FetchHost, env []string) error {
	root := h.Places().Source
	for _, to := range w.replaced {
		if err := checkReplacement("go.work", root, filepath.Join(root, w.dir), to); err != nil {
			return err
		}
	}
	for _, dir := range w.modules {
		if err := checkReplaced(ctx, h, dir, env); err != nil {
			return err
		}
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, "GOWORK=") })
	return runDownload(ctx, h, w.dir, append(env, "GOWORK="+filepath.Join(root, w.dir, "go.work")))
}

// missingWords are how the go command says that a registry does not have a module. A
// registry that is away, and a module that is another one than it was, is none of them.
var missingWords = []string{"404 Not Found", ": no such file or directory", "410 Gone", "unknown revision", "no matching versions", ": not found"}

// isMissing says whether a download failed for modules alone that no registry has.
func isMissing(err error) bool {
	text := err.Error()
	says := func(words string) bool { return strings.Contains(text, words) }
	return company.CodeOf(err) == company.EImage && slices.ContainsFunc(missingWords, says) &&
		!slices.ContainsFunc([]string{"SECURITY ERROR", "checksum mismatch", "outside the repository"}, says)
}
