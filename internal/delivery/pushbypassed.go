package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/cleanfilter"
	"company/internal/lib/safetext"
)

// mostBypassed limits the files that a doubt names.
const mostBypassed = 10

// findBypassed returns a doubt for each filter that may seal files and that new files bypass. Every commit of the push
// counts: what one adds and the next removes is published, too.
func (c *Delivery) findBypassed(
	ctx context.Context, mirror *gitops.Mirror, base, head company.OID,
) ([]company.Doubt, error) {
	from, err := mirror.MergeBase(ctx, base, head)
	if code := company.CodeOf(err); code == company.ENotFound || code == company.EObjects {
		from, err = base, nil // there is none, or there are several
	}
	if err != nil {
		return nil, err
	}
	diff, err := mirror.Diff(ctx, from, head, 0)
	if err != nil {
		return nil, err
	}
	news, err := mirror.News(ctx, base, head)
	if err != nil {
		return nil, err
	}
	files, err := mirror.FindBypassed(ctx, from, diff.Changes, news.Files)
	if err != nil {
		return nil, err
	}
	var order []cleanfilter.Bypass
	of := map[cleanfilter.Bypass][]gitops.BypassedFile{}
	for _, file := range files {
		if !file.By.NeedsLeave() {
			continue
		}
		if of[file.By] == nil {
			order = append(order, file.By)
		}
		of[file.By] = append(of[file.By], file)
	}
	var out []company.Doubt
	for _, by := range order {
		out = append(out, c.doubtBypassed(ctx, by, of[by]))
	}
	return out, nil
}

// doubtBypassed returns the doubt about files that bypass the same filter. A permission is bound to exactly these
// contents.
func (c *Delivery) doubtBypassed(
	ctx context.Context, by cleanfilter.Bypass, files []gitops.BypassedFile,
) company.Doubt {
	sum := sha256.New()
	var names []string
	for i, file := range files {
		fmt.Fprintf(sum, "%s %s\x00", file.OID, file.Path)
		if i < mostBypassed {
			names = append(names, c.shownPath(ctx, file.Path))
		}
	}
	if n := len(files) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return company.Doubt{
		Key:  "bypassed " + string(by) + " " + hex.EncodeToString(sum.Sum(nil)[:8]),
		Says: fmt.Sprintf("%s (%s): %s", strings.Join(names, ", "), safetext.EscapeLine(string(by), 100), by.Explain()),
	}
}
