package app

import (
	"context"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/container/dockerfile"
	"company/internal/container/image"
	"company/internal/gitops"
	"company/internal/lib/safetext"
	"company/internal/office/config"
)

// DockerfileReview holds the files that describe the image of a checkout's repository, for the
// president to review before trusting them.
type DockerfileReview struct {
	Commit  company.OID
	Texts   []dockerfile.Text
	Trusted bool

	hash  company.Hash
	trust config.CheckoutTrust
}

// ReviewDockerfile reads the files named by container.dockerfile, at the commit that a task would
// start from now. base is its branch. An empty base means the config's branch, else the
// checkout's.
func ReviewDockerfile(
	ctx context.Context, cfg config.Config, env func(string) (string, bool), checkout, base string,
) (DockerfileReview, error) {
	if base == "" && cfg.Git.Base != config.Auto {
		base = cfg.Git.Base
	}
	mirror, info, done, err := gitops.View(ctx, checkout, cfg.Git.Remote, base)
	if err != nil {
		return DockerfileReview{}, err
	}
	defer done()
	source, err := image.ReadDockerfile(ctx, mirror.Dir(), info.OID, cfg.Container.Dockerfile)
	if err != nil {
		return DockerfileReview{}, err
	}
	review := DockerfileReview{Commit: info.OID, Texts: source.Texts, hash: source.HashTexts(),
		trust: config.OpenTrust(env).ForCheckout(checkout)}
	review.Trusted = review.trust.CoversDockerfile(ctx, review.hash)
	return review, nil
}

// Add trusts the files.
func (r DockerfileReview) Add(ctx context.Context) error { return r.trust.AddDockerfile(ctx, r.hash) }

// RenderText renders the files for the person's decision. what names their source and must be safe
// to print.
func (r DockerfileReview) RenderText(what string) string {
	var b strings.Builder
	fmt.Fprintln(&b, "workers' images would be built from "+what+":")
	for _, text := range r.Texts {
		fmt.Fprintln(&b, "--- "+safetext.EscapeLine(text.Path, 200))
		for line := range strings.Lines(string(text.Data)) {
			fmt.Fprintln(&b, "  "+safetext.EscapeLine(strings.TrimRight(line, "\r\n"), 400))
		}
	}
	return b.String()
}
