package office

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"

	"company/internal/company"
	"company/internal/config"
	"company/internal/folder"
	"company/internal/shell"
)

// keptConfig is the copy of a company.yaml that git does not track, in the folder of the
// state. git clean removes the file itself.
const (
	keptConfig    = config.ConfigName + ".kept"
	maxKeptConfig = 64 << 10
)

// markForGit makes git clean pass .company over.
func (p Paths) markForGit(base *folder.Folder) error {
	own, err := base.Sub(p.relativePath(p.ownDir))
	if err != nil {
		return p.folderError(err)
	}
	defer own.Close()
	if err := own.MarkForGit(); err != nil {
		return p.folderError(err)
	}
	return nil
}

// keepConfig keeps a copy of the company.yaml beside the office's folders, and none where
// git tracks the file: then git has it.
func (o *Office) keepConfig(tracked bool) error {
	if tracked {
		if err := o.StateFolder.Remove(keptConfig); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return o.folderError(err)
		}
		return nil
	}
	if err := o.copyConfig(o.StateFolder); err != nil {
		return o.folderError(err)
	}
	return nil
}

// copyConfig writes the company.yaml of now to the state folder. A file that is no plain
// one is the president's to keep.
func (p Paths) copyConfig(state *folder.Folder) error {
	base, err := folder.Open(p.parentDir)
	if err != nil {
		return err
	}
	defer base.Close()
	text, err := base.ReadFile(config.ConfigName, maxKeptConfig)
	if err != nil {
		return nil //nolint:nilerr // without a file, or with a link, there is nothing to keep
	}
	if kept, err := state.ReadFile(keptConfig, maxKeptConfig); err == nil && bytes.Equal(kept, text) {
		return nil
	}
	return state.WriteFile(keptConfig, text, 0o600)
}

// RefreshKeptConfig brings the copy of the company.yaml up to date where the office keeps
// one. A copy that cannot be written stays as it is: the next Open tells why.
func (p Paths) RefreshKeptConfig() {
	if !p.HasFile(p.State, keptConfig) {
		return
	}
	state, err := p.Folder(p.State)
	if err != nil {
		return
	}
	defer state.Close()
	_ = p.copyConfig(state)
}

// CheckConfigThere refuses to go on without a company.yaml of which the office keeps a
// copy: other models, gates and caps would count unnoticed.
func (p Paths) CheckConfigThere() error {
	file, copied := filepath.Join(p.parentDir, config.ConfigName), filepath.Join(p.State, keptConfig)
	if isFile(file) || !p.HasFile(p.State, keptConfig) {
		return nil
	}
	return company.E(company.EConfig, file+" is gone").
		Because("git clean may have removed it, and without it other settings would count; the office has a copy").
		Fix("put it back: cp " + shell.QuoteArgument(copied) + " " + shell.QuoteArgument(file) + "; to go on without it: rm " + shell.QuoteArgument(copied))
}
