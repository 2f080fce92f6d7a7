package setup

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/surface/cli/command"
)

// NewGit returns the "company git" command.
func NewGit(env *command.Environment) *cobra.Command {
	cmd := command.NewGroup("git", "Manage access to the git remote", "  company git trust-host github.com")
	cmd.AddCommand(newTrustHost(env))
	return cmd
}

func newTrustHost(env *command.Environment) *cobra.Command {
	var fingerprint string
	var replace bool
	cmd := &cobra.Command{
		Use: "trust-host HOST[:PORT]", Short: "Trust the SSH host key of a server",
		Example: "  company git trust-host git.example.com:2222\n  company git trust-host github.com --fingerprint SHA256:…",
		Long: `company connects over SSH only to servers whose key you have accepted. This command
asks the server for its keys and shows their fingerprints. Compare them with those
that the server's operator publishes, to rule out a machine in between. Without a
terminal, pass the expected fingerprint with --fingerprint.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return runTrustHost(c.Context(), env, args[0], fingerprint, replace)
		},
	}
	cmd.Flags().StringVar(&fingerprint, "fingerprint", "", "accept the key with this fingerprint without asking")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace a key that was accepted before")
	return cmd
}

func runTrustHost(ctx context.Context, env *command.Environment, host, fingerprint string, replace bool) error {
	paths, err := env.FindOffice()
	if err != nil {
		return err
	}
	keys, err := officeapp.ScanHostKeys(ctx, paths, host)
	if err != nil {
		return err
	}
	if !replace {
		if err := keys.CheckUnchanged(); err != nil {
			return err
		}
	}
	if fingerprint != "" {
		err = keys.Choose(fingerprint)
	} else if !keys.AreAccepted() {
		err = confirmFingerprints(ctx, env, keys)
	}
	if err != nil {
		return err
	}
	if err := keys.Accept(); err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "host": host, "keys": keys.Shown()})
	}
	fmt.Fprintf(env.Out, "accepted: %s %s\n", safetext.Escape(host), keys.RenderText())
	return nil
}

// confirmFingerprints asks the president to compare the fingerprints.
func confirmFingerprints(ctx context.Context, env *command.Environment, keys *officeapp.HostKeys) error {
	if !env.CanPrompt() {
		return company.E(company.EHostKey, "the host key of "+keys.Host+" needs your confirmation").
			Because("it shows " + keys.RenderText()).
			Fix("company git trust-host " + keys.Host + " --fingerprint <as published by its operator>")
	}
	yes, err := env.Confirm(
		ctx, fmt.Sprintf("%s shows %s\nDoes its operator publish one of them? [y/n]> ", safetext.Escape(keys.Host),
			keys.RenderText()))
	if err == nil && !yes {
		return company.E(company.EHostKey, "the host key of "+keys.Host+" was not accepted")
	}
	return err
}
