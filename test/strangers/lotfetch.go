package strangers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// fetchListed brings a repository of a list to this machine and holds it against the
// digest of the list.
func fetchListed(ctx context.Context, l Listed) (Checkout, error) {
	s := Stranger{Name: l.Name, Version: l.Version}
	switch l.Stratum {
	case Generator:
		return fetchGenerated(ctx, l)
	case Npm:
		return NpmPackage{Package: l.Name, Integrity: l.Digest}.Fetch(ctx, s)
	case GoProxy:
		return GoModule{Path: l.Name, Sum: l.Digest}.Fetch(ctx, s)
	}
	from, err := DebianSource{Package: l.Name, Suite: "bookworm"}.Fetch(ctx, s)
	if err != nil {
		return from, err
	}
	descriptions, err := filepath.Glob(filepath.Join(filepath.Dir(from.Dir), "*.dsc"))
	if err != nil || len(descriptions) != 1 {
		return from, fmt.Errorf("%s: %d descriptions: %w", l, len(descriptions), err)
	}
	text, err := os.ReadFile(descriptions[0])
	if err != nil {
		return from, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != l.Digest {
		return from, fmt.Errorf("%s has the digest %x, not that of the list", filepath.Base(descriptions[0]), sum)
	}
	return from, nil
}
