package company

import "slices"

// DefaultProtected are the globs of paths that an agent may change only with the
// president's permission: files that run with the repository's secrets or with a
// service's rights once they are pushed (T14), files that run with the rights of
// a person's tools when they open the checkout or commit in it, the lists of required reviewers,
// and the office's own config.
func DefaultProtected() []string {
	return slices.Concat(ciPaths, servicePaths, personPaths, []string{"**/.git*", ".lfsconfig", "**/CODEOWNERS", "**/company.yaml"})
}

// ciPaths define what CI systems run.
var ciPaths = []string{
	".github/**", ".gitlab/**", ".gitea/**", ".forgejo/**", ".gitlab-ci.yml", "**/.gitlab-ci*.{yml,yaml}",
	"**/action.{yml,yaml}", ".circleci/**", ".woodpecker*", ".woodpecker/**",
	".drone*.{yml,yaml}", ".drone.jsonnet", ".drone.star", ".buildkite/**", ".buildkite.{yml,yaml}", ".travis.{yml,yaml}",
	"**/Jenkinsfile*", "**/azure-pipelines*.{yml,yaml}", ".azure-pipelines/**", ".azuredevops/**",
	"bitbucket-pipelines.{yml,yaml}", "appveyor.{yml,yaml}", ".appveyor.{yml,yaml}", ".cirrus.{yml,yaml}", ".cirrus.star",
	".semaphore/**", ".teamcity/**", "**/cloudbuild.{yml,yaml}", "**/cloudbuild.json", "**/buildspec*.{yml,yaml}",
	".tekton/**", ".zuul.{yml,yaml}", "zuul.{yml,yaml}", ".zuul.d/**", "zuul.d/**", ".build.{yml,yaml}", ".builds/**",
	".scrutinizer.{yml,yaml}", "bitrise.{yml,yaml}", "codemagic.{yml,yaml}", "wercker.{yml,yaml}",
	"codefresh.{yml,yaml}", ".codefresh/**", ".harness/**",
}

// servicePaths steer services that act on a repository: they merge, deploy or publish.
var servicePaths = []string{
	".mergify.{yml,yaml}", ".mergify/**", "renovate.{json,json5}", ".renovaterc*", ".dependabot/**",
	"**/netlify.toml", "**/vercel.{json,ts}", "now.json", "**/amplify.{yml,yaml}", "render.{yml,yaml}", "heroku.{yml,yaml}",
	".readthedocs.{yml,yaml}", "readthedocs.{yml,yaml}",
}

// personPaths are run by editors, shells, hooks and agents of a person.
var personPaths = []string{
	"**/.devcontainer/**", "**/.devcontainer.json", "**/.vscode/**", "**/*.code-workspace", "**/.idea/**", "**/.fleet/**",
	"**/.zed/**", "**/.exrc", "**/.nvim.lua", "**/.envrc", "**/{.mise,mise}*.toml", "**/.mise/**",
	".pre-commit-*.{yml,yaml}", "**/.husky/**", "**/{.lefthook,lefthook}*", "**/.lefthook/**", "**/.overcommit.{yml,yaml}",
	"**/.simple-git-hooks*", "**/.lintstagedrc*", "**/lint-staged.config.*",
	"**/.claude/**", "**/.cursor/**", "**/.gemini/**", "**/.codex/**", "**/.mcp.json",
}
