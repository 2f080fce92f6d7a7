package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/lib/shellquote"
)

// destination is where a task is delivered.
type destination struct {
	forge  forge.Forge
	target forge.Target
	// to lists the addresses that the branch is pushed to, the one of the pull request first. If empty, nothing is
	// pushed.
	to []string
	// note tells what a person must know of it, and byHand the commands for a push. They are empty if there is nothing
	// to tell.
	note, byHand string
	unpushed     bool // a setting of the president's git forbids the push
}

// FindPushed completes a reference to a pull request by where the president's git pushes its branch. path is the
// project's checkout, and remote its address, or "".
func FindPushed(
	ctx context.Context, mirror *gitops.Mirror, ref forge.Ref, path, remote string,
) (forge.Ref, gitops.PushTarget, error) {
	if remote == "" {
		return ref, gitops.PushTarget{}, nil
	}
	pushed, err := mirror.PushTarget(ctx, path, ref.Branch)
	if ref.Unpushed = pushed.Forbidden(); pushed.Setting != "" && !ref.Unpushed {
		ref.PushedTo = pushed.Main(remote)
	}
	return ref, pushed, err
}

// findDestination decides where the branch and the pull request of a task go. A push goes where git push would, and
// nowhere if the president's git has no address for it.
func (c *Delivery) findDestination(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, ref forge.Ref, remote string,
) (out destination, err error) {
	ref, pushed, err := FindPushed(ctx, mirror, ref, task.Project.Path, remote)
	if err != nil {
		return out, err
	}
	if ref.Unpushed && ref.URL != "" && !strings.HasPrefix(ref.URL, "file://") {
		return out, company.E(company.EGit, fmt.Sprintf("cannot push %s", ref.Branch)).
			Because(fmt.Sprintf("%s, which is not a URL, and its pull request %s is open", pushed.Why(), ref.URL)).
			Fix("set it back to the URL with the branch, and approve; or push it by hand (" +
				pushByHand(mirror, task) + "), then company cancel " + string(task.ID)).NeedsPerson()
	}
	if out.forge, err = c.Forges.ForPullRequest(ctx, ref, remote); err != nil {
		return out, err
	}
	if out.target, err = out.forge.Target(ctx); err != nil {
		return out, err
	}
	switch {
	case remote == "":
	case ref.Unpushed:
		out.unpushed, out.note = true, "nothing was pushed, since "+pushed.Why()+", which is not an address to push to"
		out.byHand, out.target = pushByHand(mirror, task), forge.Target{}
	case pushed.Setting == "":
		out.to = []string{remote}
		if out.target.URL != "" {
			out.to[0] = out.target.URL
		}
	default:
		out.to = append(out.to, ref.PushedTo)
		for _, address := range pushed.URLs {
			if !slices.Contains(out.to, address) {
				out.to = append(out.to, address)
			}
		}
		if ref.PushedTo == remote {
			out.target = forge.Target{}
		}
		if out.forge.Kind() == forge.LocalKind && ref.PushedTo != remote {
			out.note = fmt.Sprintf("the branch was pushed to %s, as %s says; no pull request was opened there",
				showAddresses(out.to), pushed.Setting)
		} else if len(out.to) > 1 {
			out.note = fmt.Sprintf("the branch was pushed to %s, as %s says", showAddresses(out.to), pushed.Setting)
		}
	}
	out.target.URL = gitops.WithoutLogin(out.target.URL) // it is shown
	return out, nil
}

// showAddresses returns addresses without logins.
func showAddresses(addresses []string) string {
	var shown []string
	for _, address := range addresses {
		shown = append(shown, gitops.WithoutLogin(address))
	}
	return strings.Join(shown, " and ")
}

// pushByHand returns the commands with which a person pushes a task's head.
func pushByHand(mirror *gitops.Mirror, task *company.Task) string {
	return fmt.Sprintf("git fetch %s %s && git push <address> FETCH_HEAD:refs/heads/%s", shellquote.Quote(mirror.Dir()),
		task.Delivery.Head, task.Delivery.Branch)
}

// pushToAll pushes a task's head to each address. at is the commit of the branch at the first one. refused is the
// address at which the push failed.
func (c *Delivery) pushToAll(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, to []string, expected company.OID,
) (at company.OID, refused string, err error) {
	for i, address := range to {
		here, err := mirror.Push(ctx, c.Log, gitops.Remote{URL: address}, "refs/heads/"+task.Delivery.Branch,
			task.Delivery.Head, expected)
		if i == 0 {
			at = here
		}
		if err != nil {
			return at, address, err
		}
	}
	return at, "", nil
}

// renameBranch returns the command that gives a delivery the name of the present git.integration_branch, or nil. The
// name of a branch that was pushed stays.
func (c *Delivery) renameBranch(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, to string,
) (company.Command, error) {
	if c.Prefix == nil {
		return nil, nil
	}
	prefix, err := c.Prefix(ctx, task)
	if err != nil {
		return nil, err
	}
	branch, err := gitops.IntegrationBranch(prefix, task.ID, c.Decider.View().Office.ID)
	if err != nil || branch == task.Delivery.Branch {
		return nil, err
	}
	there, err := mirror.FetchBase(ctx, c.Log, gitops.Source{URL: to}, task.Delivery.Branch)
	if err == nil {
		if pushed, err := mirror.IsAncestor(ctx, task.Delivery.Head, there.OID); err != nil || pushed {
			return nil, err
		}
	} else if company.CodeOf(err) != company.ENotFound {
		return nil, err
	}
	ref := "refs/heads/" + branch
	at, err := mirror.Ref(ctx, ref)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return nil, err
	}
	if at != task.Delivery.Head { // later merges of this task go on from it
		if err := mirror.UpdateRef(ctx, ref, task.Delivery.Head, at); err != nil {
			return nil, err
		}
	}
	return company.RenameDelivery{Task: task.ID, Head: task.Delivery.Head, Branch: branch}, nil
}
