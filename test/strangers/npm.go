package strangers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// NpmPackage is a package of npm's registry whose archive has its tests.
type NpmPackage struct {
	Package   string
	Integrity string // of the archive
}

// Fetch has npm fetch the archive.
func (p NpmPackage) Fetch(ctx context.Context, s Stranger) (Checkout, error) {
	parent, err := cacheDir("npm")
	if err != nil {
		return Checkout{}, err
	}
	dir := filepath.Join(parent, strings.ReplaceAll(p.Package, "/", "-")+"@"+s.Version)
	return Checkout{Dir: filepath.Join(dir, "package")}, keepIn(dir, func(temp string) error {
		cmd := exec.CommandContext(ctx, "npm", "pack", "--json", p.Package+"@"+s.Version)
		cmd.Dir = temp
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", p.Package, err, errs.String())
		}
		var got []struct{ Filename, Integrity string }
		if err := json.Unmarshal(out, &got); err != nil || len(got) != 1 {
			return fmt.Errorf("%s: %w: %s", p.Package, err, out)
		}
		if got[0].Integrity != p.Integrity {
			return fmt.Errorf("%s@%s is %s, not that of the list, %s", p.Package, s.Version, got[0].Integrity, p.Integrity)
		}
		return runHere(ctx, temp, nil, "tar", "-xzf", got[0].Filename, "--no-same-permissions")
	})
}

// Scaffold is what a tool makes for whom begins a project with it, and the lock
// file that a package manager writes for it then.
type Scaffold struct {
	Root string // of this repository, which keeps the lock
	Tool string // package@version
	Call string // the tool's command line; it makes the folder "app"
	Also string // what its user does next, in that folder
	Lock string // the lock file's name
	With string // makes the lock file, in that folder
	By   string // the package manager, as package@version; empty: npm
}

// Fetch calls the tool, and takes the lock file that this repository keeps, since a
// fresh one would name other versions. Where none is kept, one is made and put there.
func (c Scaffold) Fetch(ctx context.Context, s Stranger) (Checkout, error) {
	parent, err := cacheDir("scaffold")
	if err != nil {
		return Checkout{}, err
	}
	dir := filepath.Join(parent, s.Name+"@"+s.Version)
	kept := filepath.Join(c.Root, "test", "strangers", "locks", s.Name, c.Lock)
	return Checkout{Dir: filepath.Join(dir, "app")}, keepIn(dir, func(temp string) error {
		home, err := os.MkdirTemp("", "company-scaffold-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(home)
		env := append(nodeEnv(home), "PATH="+filepath.Join(home, "tools", "node_modules", ".bin")+":"+os.Getenv("PATH"))
		script := "npm exec --yes --package=" + c.Tool + " -- " + c.Call
		if err := runHere(ctx, temp, env, "sh", "-ec", script); err != nil {
			return err
		}
		app := filepath.Join(temp, "app")
		if c.Also != "" {
			if err := runHere(ctx, app, env, "sh", "-ec", c.Also); err != nil {
				return err
			}
		}
		lock, err := os.ReadFile(kept)
		if err == nil {
			return os.WriteFile(filepath.Join(app, c.Lock), lock, 0o644)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := runHere(ctx, app, env, "sh", "-ec", installManager(c.By)+c.With); err != nil {
			return err
		}
		for _, made := range []string{"node_modules", ".pnp.cjs", ".pnp.loader.mjs", ".yarn"} {
			if err := os.RemoveAll(filepath.Join(app, made)); err != nil {
				return err
			}
		}
		if lock, err = os.ReadFile(filepath.Join(app, c.Lock)); err != nil {
			return err
		}
		return errors.Join(os.MkdirAll(filepath.Dir(kept), 0o755), os.WriteFile(kept, lock, 0o644))
	})
}

// installManager is a line that puts a package manager into the tools of a home.
func installManager(manager string) string {
	if manager == "" {
		return ""
	}
	return `npm install --silent --no-audit --no-fund --prefix "$HOME/tools" ` + manager + "\n"
}

// nodeEnv keeps what node's tools write to a home of its own.
func nodeEnv(home string) []string {
	return []string{"HOME=" + home, "npm_config_cache=" + filepath.Join(home, "npm"), "npm_config_update_notifier=false",
		"CI=1", "YARN_ENABLE_TELEMETRY=0", "COREPACK_ENABLE_PROJECT_SPEC=0", "COREPACK_ENABLE_STRICT=0"}
}
