package depaccess

import (
	"context"
	"path"
	"slices"
	"strings"
)

// Linux limits of one path: the number of links that it follows, and its length in bytes. Longer paths lead
// nowhere.
const (
	maxHops = 40
	maxPath = 4096
)

// treeLinks holds the links of a tree, with folded names, as on case-insensitive disks. Each link is resolved
// only once, even if many others lead through it. The total cost is therefore proportional to the text of the
// links.
type treeLinks struct {
	root   *place
	inside map[step]*place
}

// place is a path from the root of a tree. It may be a folder of the tree, a missing folder, or a folder above
// the tree.
type place struct {
	above, below *place // below is set for places above the tree: every name leads back to it
	name         string
	size         int // bytes of the path
	target       string
	isLink       bool
	isBegun      bool
	leads        *place // target of a resolved link, nil if it leads nowhere
	hops         int    // links followed to reach leads
}

type step struct {
	from *place
	name string
}

func newTreeLinks() *treeLinks { return &treeLinks{root: &place{}, inside: map[step]*place{}} }

// add adds a link by its path.
func (l *treeLinks) add(file, target string) {
	at := l.root
	for part := range strings.SplitSeq(file, "/") {
		at = l.enter(at, part)
	}
	at.isLink, at.target = true, target
}

// enter returns the place that a name leads to, without following a link. A path that leaves the tree may return
// by any name, because the tree does not know the folders above it.
func (l *treeLinks) enter(from *place, name string) *place {
	if from.below != nil {
		return from.below
	}
	at := l.inside[step{from, name}]
	if at == nil {
		at = &place{above: from, name: name, size: from.size + 1 + len(name)}
		l.inside[step{from, name}] = at
	}
	return at
}

// leave returns the place that ".." leads to.
func (l *treeLinks) leave(from *place) *place {
	if from.above == nil {
		from.above = &place{below: from}
	}
	return from.above
}

// resolve returns the target of a link as a path of the tree, or "." for the tree itself. It returns "" for a
// link that leads nowhere.
func (l *treeLinks) resolve(ctx context.Context, file string) (string, error) {
	at := l.root
	for part := range strings.SplitSeq(file, "/") {
		at = l.enter(at, part)
	}
	l.follow(ctx, at)
	if at.leads == nil || at.leads.size > maxPath {
		return "", ctx.Err()
	}
	var parts []string
	for at = at.leads; at.above != nil && at.below == nil && at != l.root; at = at.above {
		parts = append(parts, at.name)
	}
	slices.Reverse(parts)
	return path.Join(".", strings.Join(parts, "/")), ctx.Err()
}

// follow resolves a link. A link that leads through itself leads nowhere.
func (l *treeLinks) follow(ctx context.Context, link *place) {
	if link.isBegun || ctx.Err() != nil {
		return
	}
	link.isBegun = true
	if path.IsAbs(link.target) || len(link.target) > maxPath {
		return
	}
	at, hops := link.above, 1
	for part := range strings.SplitSeq(link.target, "/") {
		switch part {
		case "", ".":
			continue
		case "..":
			at = l.leave(at)
			continue
		}
		at = l.enter(at, part)
		if at.isLink {
			l.follow(ctx, at)
			hops += at.hops
			at = at.leads
		}
		if at == nil || hops > maxHops {
			return
		}
	}
	link.leads, link.hops = at, hops
}
