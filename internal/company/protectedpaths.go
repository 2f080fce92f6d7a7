package company

import "slices"

// DefaultProtected returns the globs of paths that an agent may change only with the president's permission. Once
// pushed, some of these files run with the repository's secrets or a service's rights (T14). Others run with the rights
// of a person's tools when they open the checkout or commit in it. The lists of required reviewers and the office's own
// config are included.
func DefaultProtected() []string {
	return slices.Concat(ciPaths, servicePaths, personPaths,
		[]string{"**/.git*", ".lfsconfig", "**/CODEOWNERS", "**/company.yaml"})
}

// ciPaths lists files that define what CI systems run.
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

// servicePaths lists files that control services which merge, deploy or publish.
var servicePaths = []string{
	".mergify.{yml,yaml}", ".mergify/**", "renovate.{json,json5}", ".renovaterc*", ".dependabot/**",
	"**/netlify.toml", "**/vercel.{json,ts}", "now.json", "**/amplify.{yml,yaml}", "render.{yml,yaml}",
	"heroku.{yml,yaml}",
	".readthedocs.{yml,yaml}", "readthedocs.{yml,yaml}",
}

// personPaths lists files that a person's editors, shells, hooks and agents run.
var personPaths = []string{
	"**/.devcontainer/**", "**/.devcontainer.json", "**/.vscode/**", "**/*.code-workspace", "**/.idea/**", "**/.fleet/**",
	"**/.zed/**", "**/.exrc", "**/.nvim.lua", "**/.envrc", "**/{.mise,mise}*.toml", "**/.mise/**",
	".pre-commit-*.{yml,yaml}", "**/.husky/**", "**/{.lefthook,lefthook}*", "**/.lefthook/**", "**/.overcommit.{yml,yaml}",
	"**/.simple-git-hooks*", "**/.lintstagedrc*", "**/lint-staged.config.*",
	"**/.claude/**", "**/.cursor/**", "**/.gemini/**", "**/.codex/**", "**/.mcp.json",
}
