package ciconfig

import "company/internal/ecosystem"

// others lists CI definitions in formats that this package does not read.
var others = []string{
	".circleci/config.yml", "Jenkinsfile", "azure-pipelines.yml", "azure-pipelines.yaml", "bitbucket-pipelines.yml",
	".drone.yml", ".woodpecker.yml", ".woodpecker.yaml",
	".buildkite/pipeline.yml", ".buildkite/pipeline.yaml", ".cirrus.yml", ".semaphore/semaphore.yml",
}

// ListOthers lists the definitions of a tree that ReadDefinitions does not read.
func ListOthers(tree *ecosystem.Tree) (files []string) {
	for _, file := range others {
		if _, ok := tree.Files[file]; ok {
			files = append(files, file)
		}
	}
	return files
}
