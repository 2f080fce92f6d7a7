package app

import (
	"context"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/config"
	"company/internal/dockerfile"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/safetext"
)

// DockerfileReview is how a checkout's repository describes its image, as the president
// has to see it before trusting it.
type DockerfileReview struct {
	Commit  company.OID
	Texts   []dockerfile.Text
	Trusted bool

	hash  company.Hash
	trust config.CheckoutTrust
}

// ReviewDockerfile reads what container.dockerfile names in the commit that a task
// would start from now. base is its branch; empty: the config's, else the checkout's.
func ReviewDockerfile(ctx context.Context, c config.Config, env func(string) (string, bool), checkout, base string) (DockerfileReview, error) {
	if base == "" && c.Git.Base != config.Auto {
		base = c.Git.Base
	}
	m, info, done, err := gitops.View(ctx, checkout, c.Git.Remote, base)
	if err != nil {
		return DockerfileReview{}, err
	}
	defer done()
	s, err := image.ReadDockerfile(ctx, m.Dir(), info.OID, c.Container.Dockerfile)
	if err != nil {
		return DockerfileReview{}, err
	}
	r := DockerfileReview{Commit: info.OID, Texts: s.Texts, hash: s.HashTexts(), trust: config.OpenTrust(env).ForCheckout(checkout)}
	r.Trusted = r.trust.CoversDockerfile(ctx, r.hash)
	return r, nil
}

// Add lets the texts count.
func (r DockerfileReview) Add(ctx context.Context) error { return r.trust.AddDockerfile(ctx, r.hash) }

// RenderText is the texts, for the person to decide on. what names them, safe to show.
func (r DockerfileReview) RenderText(what string) string {
	var b strings.Builder
	fmt.Fprintln(&b, "workers' images would be built from "+what+":")
	for _, t := range r.Texts {
		fmt.Fprintln(&b, "--- "+safetext.EscapeLine(t.Path, 200))
		for line := range strings.Lines(string(t.Data)) {
			fmt.Fprintln(&b, "  "+safetext.EscapeLine(strings.TrimRight(line, "\r\n"), 400))
		}
	}
	return b.String()
}
