package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"company/internal/company"
)

// InstallDraft writes a draft as the company.yaml of a folder, like InstallFile, and trusts it. With dry it only
// checks the draft.
func InstallDraft(
	ctx context.Context, dir string, text []byte, env func(string) (string, bool), force, dry bool,
) (backup string, err error) {
	path := filepath.Join(dir, ConfigName)
	// Check the draft as every command checks the file.
	trial := &trialFile{path: path, data: text}
	if _, err := Load(ctx, LoadOptions{OfficeDir: dir, Env: env, trial: trial}); err != nil {
		return "", company.E(company.EInternal, "the generated file is invalid").Wrap(err).
			Fix("write one by hand: company config schema")
	}
	if dry {
		return "", nil
	}
	if len(trial.requests) > 0 {
		if err := OpenTrust(env).AddText(text, path); err != nil {
			return "", err
		}
	}
	return InstallFile(path, text, force)
}

// InstallFile writes the file atomically. With force it keeps an existing file under the returned name. Without force
// an existing file is an EConflict error, even if it appears meanwhile.
func InstallFile(path string, text []byte, force bool) (backup string, err error) {
	fail := func(err error) error {
		return company.E(company.EConfig, path+" cannot be written").Wrap(err).
			Fix("check that you own the folder and that the disk has space")
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".company.yaml-")
	if err != nil {
		return "", fail(err)
	}
	defer func() {
		if rm := os.Remove(file.Name()); err == nil && rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			err = fail(rm)
		}
	}()
	_, err = file.Write(text)
	if err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return "", fail(err)
	}
	// Link fails if the file exists, so no file is overwritten.
	err = os.Link(file.Name(), path)
	if err == nil {
		return "", nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return "", fail(err)
	}
	if !force {
		return "", ExistsError(path)
	}
	for n := 1; n < 1000; n++ {
		backup = path + ".bak"
		if n > 1 {
			backup = fmt.Sprintf("%s.bak%d", path, n)
		}
		if err = os.Link(path, backup); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return "", fail(err)
	}
	return backup, nil
}

// ExistsError returns the error for a company.yaml that already exists.
func ExistsError(path string) error {
	return company.E(company.EConflict, "there is a company.yaml already: "+path).
		Fix("company config check checks it; company init --force writes a new one and keeps a copy of the old one")
}
