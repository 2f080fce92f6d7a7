package office

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"company/internal/company"
	"company/internal/gitops/gitindex"
	"company/internal/lib/safedir"
	"company/internal/lib/shellquote"
	"company/internal/office/config"
)

// keptConfig is the name of a copy in the state folder of a company.yaml that git does not track. It exists because
// git clean removes the original.
const (
	keptConfig    = config.ConfigName + ".kept"
	maxKeptConfig = 64 << 10
)

// keepConfig keeps a copy of the company.yaml in the state folder. If git tracks the file it removes the copy.
func (o *Office) keepConfig(ctx context.Context) error {
	tracked, err := gitindex.Tracked(ctx, o.parentDir, config.ConfigName)
	if err != nil {
		return err
	}
	if len(tracked) > 0 {
		if err := o.StateFolder.Remove(keptConfig); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return o.stateError(err)
		}
		return nil
	}
	if err := o.copyConfig(o.StateFolder); err != nil {
		return o.stateError(err)
	}
	return nil
}

// copyConfig copies the current company.yaml to the state folder. It skips the copy unless the file is a plain one.
func (p Paths) copyConfig(state *safedir.Folder) error {
	base, err := safedir.Open(p.parentDir)
	if err != nil {
		return err
	}
	defer base.Close()
	text, err := base.ReadFile(config.ConfigName, maxKeptConfig)
	if err != nil {
		return nil // without a file, or with a link, there is nothing to keep
	}
	if kept, err := state.ReadFile(keptConfig, maxKeptConfig); err == nil && bytes.Equal(kept, text) {
		return nil
	}
	return state.WriteFile(keptConfig, text, 0o600)
}

// RefreshKeptConfig updates the copy of the company.yaml, if there is one. If the copy cannot be written it stays
// unchanged: the next Open reports why.
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

// CheckConfigThere returns an error if the company.yaml is missing and a copy exists. Without the file, other models,
// gates and caps would apply unnoticed.
func (p Paths) CheckConfigThere() error {
	file, copied := filepath.Join(p.parentDir, config.ConfigName), filepath.Join(p.State, keptConfig)
	if isFile(file) || !p.HasFile(p.State, keptConfig) {
		return nil
	}
	return company.E(company.EConfig, file+" is missing").
		Because("git clean may have removed it; without it, other settings would apply; the office has a copy").
		Fix("restore it: cp " + shellquote.QuoteArgument(copied) + " " + shellquote.QuoteArgument(file) +
			"; to continue without it: rm " + shellquote.QuoteArgument(copied))
}
