package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"company/internal/company"
	"company/internal/gitops/gitindex"
)

// CheckoutTrust holds the permissions that the president gave the repository of a checkout. The zero value has none.
type CheckoutTrust struct {
	list     Trust
	checkout string
}

// ForCheckout returns the permissions for the repository of a checkout.
func (t Trust) ForCheckout(checkout string) CheckoutTrust { return CheckoutTrust{t, checkout} }

// CoversDockerfile reports whether the president allowed the repository to build its image from the texts with this
// hash. It fails closed.
func (c CheckoutTrust) CoversDockerfile(ctx context.Context, texts company.Hash) bool {
	if c.checkout == "" || texts == "" {
		return false
	}
	hash, err := hashCheckout(ctx, c.checkout, "dockerfile", string(texts))
	return err == nil && c.list.Trusted(hash)
}

// AddDockerfile allows the repository to build its image from the texts with this hash.
func (c CheckoutTrust) AddDockerfile(ctx context.Context, texts company.Hash) error {
	hash, err := hashCheckout(ctx, c.checkout, "dockerfile", string(texts))
	if err != nil {
		return err
	}
	return c.list.Add(hash, c.checkout)
}

// MayUseLogins reports whether the repository of a checkout may use the logins to package registries. It fails closed.
func (t Trust) MayUseLogins(ctx context.Context, checkout string) bool {
	hash, err := hashCheckout(ctx, checkout, "logins")
	return err == nil && t.Trusted(hash)
}

// AllowLogins allows the repository of a checkout to use the logins to package registries.
func (t Trust) AllowLogins(ctx context.Context, checkout string) error {
	hash, err := hashCheckout(ctx, checkout, "logins")
	if err != nil {
		return err
	}
	return t.Add(hash, checkout)
}

// hashCheckout returns the hash of a repository's permission in the list. It depends on the folder and the origin. If
// another repository takes the folder, or the origin changes, the permission must be given again.
func hashCheckout(ctx context.Context, checkout, leave string, more ...string) (company.Hash, error) {
	dir, err := filepath.EvalSymlinks(checkout)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return "", company.E(company.ENotFound, "there is no checkout at "+checkout).Wrap(err)
	}
	// A missing address is not an error: git prints an empty default.
	origin, err := gitindex.Ask(ctx, dir, "config", "--local", "--default", "", "--get", "remote.origin.url")
	if err != nil {
		return "", err
	}
	text := leave + "\x00" + dir + "\x00" + origin
	for _, m := range more {
		text += "\x00" + m
	}
	sum := sha256.Sum256([]byte(text))
	return company.Hash(hex.EncodeToString(sum[:])), nil
}
