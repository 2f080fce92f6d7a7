package generate

// limits are the fixed limits that users can meet. Internal limits are not listed.
var limits = []limit{
	{"Tasks", "company", "MaxInstruction", bytesUnit, "instruction", "E_INVALID"},
	{"Tasks", "company", "MaxAttachments", count, "attachments of a task", "E_INVALID"},
	{"Tasks", "company", "MaxAttachedText", bytesUnit, "attached text", "E_INVALID"},
	{"Tasks", "company", "MaxAttachedImage", bytesUnit, "attached image", "E_INVALID"},
	{"Tasks", "company", "MaxAttachedBytes", bytesUnit, "all attachments of a task", "E_INVALID"},
	{"Tasks", "company", "MaxTags", count, "tags of a task", "E_INVALID"},
	{"Tasks", "company", "MaxAfter", count, "tasks in --after", "E_USAGE"},
	{"Tasks", "forge", "MaxIssueBytes", bytesUnit, "quoted issue", "truncated"},
	{"Tasks", "forge", "MaxIssueComments", count, "quoted comments of an issue", "the newest are quoted"},
	{"Tasks", "company", "MaxPassedOver", duration, "time that more urgent tasks go first", "the old task goes first"},
	{"Tasks", "company", "MaxDependencies", count, "packages that a task may add", "refused; the agent is told"},
	{"Tasks", "agent", "AssumedContext", count, "tokens of context if context_tokens is unknown",
		"old tool results are dropped"},
	{"Tasks", "office/config", "maxFileBytes", bytesUnit, "company.yaml", "E_CONFIG"},
	{"Tasks", "app", "stopPatience", duration, "time to stop all work", "E_INTERNAL; company resume continues"},

	{"Pull requests", "company", "MaxPullTitle", count, "characters of a title", "truncated"},
	{"Pull requests", "company", "MaxFollowUps", count, "automatic follow-ups of a pull request",
		"use company submit --follows"},
	{"Pull requests", "company", "maxFeedbackItems", count, "comments of a follow-up", "the next one has the rest"},
	{"Pull requests", "app", "MaxPatch", bytesUnit, "diff of company diff", "truncated; the git command is shown"},

	{"Changes and clones", "gitops", "maxBlobBytes", bytesUnit, "new file", "E_OBJECTS"},
	{"Changes and clones", "gitops", "maxTotalBytes", bytesUnit, "all new files of a run", "E_OBJECTS"},
	{"Changes and clones", "gitops", "maxNewFiles", count, "new or changed files of a run", "E_OBJECTS"},
	{"Changes and clones", "gitops", "MaxPushBytes", bytesUnit, "push", "E_OBJECTS"},
	{"Changes and clones", "gitops", "maxCloneEntries", count, "files and folders of a clone by --repo", "E_INVALID"},
	{"Changes and clones", "gitops", "maxCloneBytes", bytesUnit, "files of a clone by --repo", "E_INVALID"},

	{"Checks", "gates", "defaultTimeout", duration, "check on the base", "stopped; fails"},
	{"Checks", "gates", "leastTimeout", duration, "check of a change; or ten times its time on the base", "stopped; fails"},
	{"Checks", "gates", "maxReruns", count, "reruns of a failed test", "fails"},
	{"Checks", "gates", "maxLogBytes", bytesUnit, "log of a check", "the middle is dropped"},
	{"Checks", "gates", "generateTimeout", duration, "gates.generate commands of a merge", "the merger gets the conflict"},
	{"Checks", "ecosystem", "MaxManifest", bytesUnit, "manifest, Makefile or CI file", "ignored, with a note"},

	{"Images and packages", "container/image", "defaultTimeout", duration, "build of an image", "E_TIMEOUT"},
	{"Images and packages", "container/image", "maxDeps", bytesUnit, "installed packages", "E_IMAGE"},
	{"Images and packages", "container/image", "maxDepFiles", count, "files of installed packages", "E_IMAGE"},
	{"Images and packages", "ecosystem", "MaxPackage", bytesUnit, "package", "not fetched"},
	{"Images and packages", "ecosystem/depproxy", "MaxLockFile", bytesUnit, "lock file", "ignored"},
	{"Images and packages", "ecosystem/depproxy", "maxCache", bytesUnit, "package cache", "least recently used removed"},
	{"Images and packages", "agentrun/depaccess", "maxBytes", bytesUnit, "downloads of a run",
		"registries are closed to it"},
}
