package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/safetext"
)

func newGit(a *app) *cobra.Command {
	c := commandGroup("git", "How the office reaches its git remote", "  company git trust-host github.com")
	c.AddCommand(newTrustHost(a))
	return c
}

func newTrustHost(a *app) *cobra.Command {
	var fingerprint string
	var replace bool
	c := &cobra.Command{
		Use: "trust-host HOST[:PORT]", Short: "Accept the ssh host key of a server",
		Example: "  company git trust-host git.example.com:2222\n  company git trust-host github.com --fingerprint SHA256:…",
		Long: `Work over ssh goes on only with a server whose key you have accepted. This
command asks the server for its keys and shows their fingerprints. Compare them
with what the server's operator publishes: whoever stands in between would show
others. Without a terminal, name the one that you expect with --fingerprint.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.runTrustHost(c.Context(), args[0], fingerprint, replace)
		},
	}
	c.Flags().StringVar(&fingerprint, "fingerprint", "", "accept the key with this fingerprint, and ask nothing")
	c.Flags().BoolVar(&replace, "replace", false, "accept a key in place of another that was accepted before")
	return c
}

func (a *app) runTrustHost(ctx context.Context, host, fingerprint string, replace bool) error {
	paths, err := a.findOffice()
	if err != nil {
		return err
	}
	keys, err := gitops.ScanHost(ctx, host)
	if err != nil {
		return err
	}
	known, err := gitops.Known(paths.Git, host)
	if err != nil {
		return err
	}
	same := len(known) > 0 && !slices.ContainsFunc(known, func(k gitops.HostKey) bool {
		return !slices.ContainsFunc(keys, func(n gitops.HostKey) bool { return n.Key == k.Key })
	})
	if len(known) > 0 && !same && !replace {
		return company.E(company.EHostKey, fmt.Sprintf("%s has another key than the one that was accepted", host)).
			Because("accepted was " + joinFingerprints(known) + ", it shows " + joinFingerprints(keys)).
			Fix("ask the server's operator; only if the change is theirs: company git trust-host --replace " + host)
	}
	if fingerprint != "" {
		keys = slices.DeleteFunc(keys, func(k gitops.HostKey) bool { return k.Fingerprint() != fingerprint })
		if len(keys) == 0 {
			return company.E(company.EHostKey, fmt.Sprintf("%s shows no key with the fingerprint %s", host, fingerprint)).
				Fix("do not go on before you know why: compare with what the server's operator publishes")
		}
	} else if !same {
		if err := a.confirmFingerprints(ctx, host, keys); err != nil {
			return err
		}
	}
	if err := gitops.AcceptHost(paths.Git, host, keys); err != nil {
		return err
	}
	if a.output == "json" {
		var list []map[string]string
		for _, k := range keys {
			list = append(list, map[string]string{"type": k.Type, "fingerprint": k.Fingerprint()})
		}
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "host": host, "keys": list})
	}
	fmt.Fprintf(a.out, "accepted: %s %s\n", safetext.Escape(host), joinFingerprints(keys))
	return nil
}

// confirmFingerprints has the president compare the fingerprints.
func (a *app) confirmFingerprints(ctx context.Context, host string, keys []gitops.HostKey) error {
	if !a.canPrompt() {
		return company.E(company.EHostKey, "nobody is here to compare the fingerprints of "+host).Because("it shows " + joinFingerprints(keys)).
			Fix("company git trust-host " + host + " --fingerprint <the one that its operator publishes>")
	}
	answer, err := a.promptLine(ctx, fmt.Sprintf("%s shows %s\nIs one of them what its operator publishes? [y/n]> ", safetext.Escape(host), joinFingerprints(keys)))
	if err != nil {
		return err
	}
	if word := strings.ToLower(answer); word != "y" && word != "yes" {
		return company.E(company.EHostKey, host+" is not accepted")
	}
	return nil
}

// joinFingerprints lists fingerprints with the kinds of their keys.
func joinFingerprints(keys []gitops.HostKey) string {
	var out []string
	for _, k := range keys {
		out = append(out, k.Fingerprint()+" ("+strings.TrimPrefix(k.Type, "ssh-")+")")
	}
	return strings.Join(out, ", ")
}
