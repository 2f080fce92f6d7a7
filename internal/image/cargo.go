package image

import (
	"archive/tar"
	"context"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/safetext"
)

// cargoDeps is what the Cargo.lock files of a tree name.
type cargoDeps struct {
	dirs  []string          // with a Cargo.lock
	files map[string][]byte // manifests and lock files
	stubs []string          // source files, whose names cargo wants to see
	locks map[string][]byte // for the policy
}

func (d cargoDeps) keyInputs() []string {
	var out []string
	for _, name := range sortedKeys(d.files) {
		out = append(out, name, string(hashKey(string(d.files[name]))))
	}
	return out
}

// readCargoDeps reads lock files and manifests; those that need nothing of a
// registry are left out.
func (p *layerPlan) readCargoDeps(ctx context.Context, tree treeFiles) (cargoDeps, error) {
	d := cargoDeps{files: map[string][]byte{}, locks: map[string][]byte{}}
	for _, name := range tree.filesNamed("Cargo.lock") {
		dir := path.Dir(name)
		if !tree.hasFile(path.Join(dir, "Cargo.toml")) {
			continue
		}
		text, err := tree.readText(ctx, name)
		if err != nil {
			return d, err
		}
		needs, git := lockNamesCrates(text)
		if git != "" {
			p.addNote("%s names %s of a git repository, which is not fetched: its crates are not prepared", name, safetext.Cut(safetext.StripLine(git), 60))
			continue
		}
		if !needs {
			continue
		}
		if hasVendoredCrates(ctx, tree, dir) {
			continue
		}
		d.dirs = append(d.dirs, dir)
		d.files[name], d.locks[name] = text, text
	}
	if len(d.dirs) == 0 {
		return d, nil
	}
	if len(d.dirs) > maxProjects {
		p.addNote("only the first %d of %d Cargo.lock files are prepared", maxProjects, len(d.dirs))
		d.dirs = d.dirs[:maxProjects]
	}
	manifests := tree.filesNamedAnywhere("Cargo.toml")
	if len(manifests) > maxManifests {
		manifests = manifests[:maxManifests]
	}
	texts, err := tree.readTexts(ctx, manifests)
	if err != nil {
		return d, err
	}
	for m, text := range texts {
		d.files[m] = text
	}
	for _, l := range tree.entries {
		if path.Ext(l.path) == ".rs" && isPrintablePath(l.path) {
			d.stubs = append(d.stubs, l.path)
		}
	}
	return d, nil
}

// lockNamesCrates tells whether a lock file names crates of a registry, and a crate
// of a git repository if there is one.
func lockNamesCrates(text []byte) (needs bool, git string) {
	var lock struct {
		Package []struct{ Name, Source string }
	}
	if ecosystem.ReadTOML(text, &lock) != nil {
		return true, "" // cargo reports its fault
	}
	for _, c := range lock.Package {
		needs = needs || c.Source != ""
		if strings.HasPrefix(c.Source, "git+") {
			git = c.Name
		}
	}
	return needs, git
}

// hasVendoredCrates tells whether a project carries its crates along.
func hasVendoredCrates(ctx context.Context, tree treeFiles, dir string) bool {
	for _, name := range []string{".cargo/config.toml", ".cargo/config"} {
		if name = path.Join(dir, name); tree.hasFile(name) {
			text, err := tree.readText(ctx, name)
			return err == nil && strings.Contains(string(text), "replace-with")
		}
	}
	return false
}

const (
	cratesPath = depsPath + "/crates"
	// cargoOffline makes cargo take crates from the image.
	cargoOffline = "[source.crates-io]\nreplace-with = \"company\"\n[source.company]\ndirectory = \"" + cratesPath + "\"\n[net]\noffline = true\n"
)

// fillCargo fetches the crates that lock files name and lays them out as a
// directory source. Nothing is compiled, and of the project's sources only the
// names are there.
func (b *Builder) fillCargo(d cargoDeps, fetch *registryAccess) writeLayerFunc {
	return func(ctx context.Context, under *existingImage, work string, l *layer) error {
		stage := func(s *layer) error {
			for _, name := range sortedKeys(d.files) {
				if err := s.addBytes(path.Join("opt/out/src", name), 0o644, d.files[name]); err != nil {
					return err
				}
			}
			for _, name := range d.stubs {
				if err := s.addBytes(path.Join("opt/out/src", name), 0o644, nil); err != nil {
					return err
				}
			}
			return s.addBytes("opt/out/home/config.toml", 0o644, []byte("[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = \"sparse+"+registryURL+"/crates/\"\n"))
		}
		do := func(h *buildSession) error {
			b.reportProgress("fetching the crates of %s", joinPaths(d.dirs, "Cargo.lock"))
			// Cargo's home is in memory: it writes there.
			r, err := h.runCommand("", "cp -r home /tmp/cargo", nil)
			args := ""
			for i, dir := range d.dirs {
				if i == 0 {
					continue
				}
				args += " --sync src/" + path.Join(dir, "Cargo.toml")
			}
			if err == nil && r.ExitCode == 0 {
				r, err = h.runCommand("", "cargo vendor -q --locked --versioned-dirs --respect-source-config --manifest-path src/"+path.Join(d.dirs[0], "Cargo.toml")+args+" crates >/dev/null",
					map[string]string{"CARGO_HOME": "/tmp/cargo", "CARGO_NET_RETRY": "1"})
			}
			if err == nil && r.ExitCode != 0 {
				err = clientError("the crates of "+joinPaths(d.dirs, "Cargo.lock")+" cannot be fetched", r,
					"check that `cargo fetch --locked` works in your checkout; or go on without them, with container.deps: off: what needs them stays red")
			}
			return err
		}
		collect := func(ctx context.Context, name string) error {
			var total int64
			err := b.readTree(ctx, name, buildOut+"/crates", func(h *tar.Header, r io.Reader) error {
				to := path.Join(strings.TrimPrefix(depsPath, "/"), cleanName(h.Name))
				if total += h.Size; total > maxDeps {
					return company.E(company.EImage, "the project's crates are over 4 GiB").Fix("set container.deps: off")
				}
				switch h.Typeflag {
				case tar.TypeDir:
					return l.addDir(to, 0)
				case tar.TypeReg:
					return l.addStream(to, h.Mode&0o755|0o444, h.Size, r)
				}
				return nil
			})
			if err != nil {
				return err
			}
			return l.addBytes(strings.TrimPrefix(depsPath, "/")+"/cargo.toml", 0o644, []byte(cargoOffline))
		}
		return b.runInstall(ctx, installJob{name: "cargo-" + filepath.Base(work), image: under.id, stageFiles: stage, access: fetch, work: do, collect: collect, timeout: 25 * time.Minute}, work)
	}
}
