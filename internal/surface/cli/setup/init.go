// Package setup has the commands that prepare this machine and an office: init, trust, config, git
// and doctor.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/surface/cli/command"
)

// initTimeout limits the inspection by init.
const initTimeout = 20 * time.Second

type initOptions struct {
	force  bool
	dryRun bool
	all    bool
}

// NewInit returns the "company init" command.
func NewInit(env *command.Environment) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use: "init", Short: "Create a company.yaml for this repository",
		Example: "  company init\n  company init --all --dry-run\n  company init --force",
		Long: `Inspects the current repository and this machine (checks, base branch, remote, models,
keys) and writes a company.yaml with what it found and the most common keys at their
defaults. --all writes every key. The file is optional: without it, the defaults
apply. An existing company.yaml is kept unless --force is given.`,
		RunE: func(c *cobra.Command, _ []string) error { return runInit(c.Context(), env, o) },
	}
	cmd.Flags().BoolVar(&o.force, "force", false,
		"replace an existing file; the old one is kept as company.yaml.bak")
	cmd.Flags().BoolVar(&o.all, "all", false, "write every key with its default")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print the file instead of writing it")
	return cmd
}

func runInit(ctx context.Context, env *command.Environment, o initOptions) error {
	ctx, cancel := context.WithTimeout(ctx, initTimeout)
	defer cancel()
	dir, err := initDir(env)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, config.ConfigName)
	_, err = os.Lstat(path)
	there := !errors.Is(err, fs.ErrNotExist)
	if there && !o.force && !o.dryRun {
		return config.ExistsError(path)
	}
	draft, found, err := env.Checker().DraftConfig(ctx, dir)
	if err != nil {
		return err
	}
	draft.All = o.all
	text := draft.Render()
	backup, err := config.InstallDraft(ctx, dir, text, env.LookupEnv, o.force, o.dryRun)
	if err != nil {
		return err
	}
	if o.dryRun {
		if env.Output == "json" {
			return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "found": found, "text": string(text)})
		}
		_, err := env.Out.Write(text)
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(
			env.Out, map[string]any{"schema_version": 1, "file": path, "backup": backup, "found": found})
	}
	fmt.Fprintf(env.Out, "wrote %s\n", safetext.EscapeLine(path, 400))
	if backup != "" {
		fmt.Fprintf(env.Out, "old file: %s\n", safetext.EscapeLine(backup, 400))
	}
	for _, line := range found.RenderLines() {
		fmt.Fprintf(env.Out, "  %s\n", safetext.EscapeLine(line, 300))
	}
	_, err = fmt.Fprintln(env.Out, found.DescribeNextStep())
	return err
}

// initDir returns the folder for the new file: the named office folder, or the root of the
// checkout.
func initDir(env *command.Environment) (string, error) {
	if env.OfficeDir == "" {
		return env.FindCheckout(office.Paths{})
	}
	dir, err := filepath.Abs(env.OfficeDir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(dir); err == nil && !info.IsDir() {
			err = errors.New("not a folder")
		}
	}
	if err != nil {
		return "", company.E(company.EUsage, "no such folder: "+env.OfficeDir).Wrap(err).
			Fix("name an existing folder with --office")
	}
	return dir, nil
}
