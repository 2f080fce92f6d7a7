package github

import (
	"fmt"
	"net/url"

	"company/internal/forge"
	"company/internal/lib/shellquote"
)

// openByHand returns the command of gh, and the address of GitHub's own page, that open a pull request.
func openByHand(repo forge.Repo, pr forge.ByHand) string {
	return fmt.Sprintf("gh pr create --repo %s --base %s --head %s --title %s --body-file %s\n      or "+
		"https://%s/%s/compare/%s...%s?expand=1",
		repo, shellquote.Quote(pr.Base), shellquote.Quote(pr.Branch), shellquote.Quote(pr.Title),
		shellquote.Quote(pr.BodyFile), repo.Host, repo, url.PathEscape(pr.Base), url.PathEscape(pr.Branch))
}
