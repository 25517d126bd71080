package hostile_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/test/history"
)

// A hazard is something that one tenant could do to another.
type hazard struct {
	// attacks are those of this package that try it.
	attacks []string
	// tests of other packages try what needs no second namespace, as "FOLDER TEST".
	tests []string
}

// hazards lists what the reviews of Koldun found that tenants could do to each other.
func hazards() map[string]hazard {
	return map[string]hazard{
		"A claim author gets the platform's logins": {
			attacks: []string{
				"StreamOfPlatform", "BucketOfPlatform", "TokensOfPlatform", "GrantsItself", "AllowsItself", "LabelsItself", "GatewayImage", "DispatcherImage", "EngineImage", "ReadsSecretOfOthers", "ConfigWithSecretOfHome",
				"ServerAsGateway", "ServerAsDispatcher", "ReadsLogin", "SendsLogin", "SendsKeysToAServer", "ServerCommand",
			},
			tests: []string{
				"provider/connpool TestNamespacesMayUse", "provider/connpool TestNoSharedLoginUnlessThePlatformSaysSo", "functions/platform TestImages", "functions/platform TestRules",
				"functions/router TestServersDoNotRunBesideLogins", "functions/router TestPinnedDigestHoldsForGateways", "functions/router TestNoClaimReadsOwnSecrets",
				"functions/router TestNoTemplateReadsOwnSecrets", "functions/router TestServersAreThePlatformsWhereLoginsAreShared", "internal/names TestOwnSecrets",
			},
		},
		"A Root, Dllama or Session joins another namespace's pool":  {attacks: []string{"JoinsPool", "ServesForeignModel", "AsksForeignGateway", "LearnsWhetherExists"}, tests: []string{"test/e2e TestModelOfAnotherNamespace", "functions/model TestGuests", "functions/root TestForeignRootGetsNothing", "functions/dllama TestWithdrawnGrantEndsAccess"}},
		"A gateway serves models and tokens of other namespaces":    {attacks: []string{"Anonymous", "AnonymousListing", "ForeignToken", "ForeignListing", "ModelOfOthers", "ArgNamespace", "ArgNamespaces"}, tests: []string{"internal/serving/gateway TestLimitsOfCaller"}},
		"A hub poisons the folder of a public model":                {attacks: []string{"HubOfItsOwn", "HubNamedLikeAnother", "HubInThePath", "Overwrites", "WritesFolder"}, tests: []string{"internal/external/modelartifact TestFilesOfAnotherSourceDoNotCount", "provider/connpool TestOwnHubNeedsOwnStore"}},
		"A claim mounts static volumes with foreign credentials":    {tests: []string{"functions/platform TestRules", "functions/router TestRefusedKeepsWhatRuns"}},
		"A token starves all others":                                {attacks: []string{"TokensExceed"}, tests: []string{"test/serving TestFloodStarvesNoTenant", "test/serving TestDefaultsStarveNoTenant", "internal/serving/gateway TestQueueLimits", "internal/serving/dispatch/policy TestFairnessCountsTokens"}},
		"Accepted requests are lost with the tail of the stream":    {tests: []string{"internal/serving/dispatch TestTailOfTheStreamIsLost", "test/serving TestStoreIsRolledBack"}},
		"Bodies fill the gateway's memory":                          {attacks: []string{"LargeBody", "DeepBody", "ManyMessagesNoEnd"}, tests: []string{"internal/serving/gateway TestBodiesShareMemory", "internal/serving/gateway TestLargeBodiesAreRefused"}},
		"The provider reads private addresses, or signs for claims": {attacks: []string{"ReadsMetadataService", "ReadsLoopback", "ReadsPrivateNetwork", "ReadsByRedirect", "HubOnAnotherPort", "OwnHubReadsMetadata", "OwnStoreIsMetadata", "OwnNATSIsMetadata", "OwnHubReadsLoopback", "OwnHubByAddress", "AllowsItsOwnAddresses"}, tests: []string{"provider/connpool TestIdentityOfThePod", "provider/connpool TestOnlyThePlatformOpensPrivateAddresses", "internal/artifact/hub TestTrustedHubsAreNotMetadata", "internal/nats/bus TestNoServerIsMetadata", "internal/artifact/objectstore/s3 TestNoStoreIsMetadata", "cmd/koldun TestJobsReachWhatTheProviderSays"}},
		"A hub fills the provider's memory":                         {tests: []string{"internal/artifact/hub TestHostileListing", "internal/artifact/manifest TestBounds"}},
		"Tokens go to hubs that claims name":                        {attacks: []string{"TokenOfForeignSecret", "TokenSecretElsewhere"}, tests: []string{"cmd/koldun TestTokenGoesToItsHubOnly", "internal/artifact/hub TestTokenIsWithheld"}},
		"A namespace changes shared streams":                        {attacks: []string{"EmptiesRequests", "LetsNobodyQueue", "ExpiresTokens", "ExpiresModelsByQueue"}, tests: []string{"internal/external/queue TestNoNamespaceHarmsTheSharedQueue"}},
		"Managed resources change what others own": {
			attacks: []string{"EmptiesStream", "ExpiresStream", "TakesSubjects", "ExpiresKeys", "ShrinksKeys", "DestroysBucket", "PublishesBucket", "OwnsBucketByTag", "WritesModel", "WritesMember", "WritesToken", "WritesTokens", "ConsumesStream", "ConsumesRequests", "ConsumesTokens"},
			tests:   []string{"internal/external/consumer TestConsumersOnForeignStreams"},
		},
		"Terraform keeps secrets in state or plan":     {tests: []string{"terraform-provider/acceptance TestPlansAndStateHoldNoSecrets", "terraform-provider/acceptance TestSecretsOfClaimsAreRefused"}},
		"A namespace fills the disk of NATS":           {tests: []string{"provider/connpool TestUsualLimits", "internal/nats/natsauth TestLimitsOfAccounts"}},
		"A record that cannot be read keeps a token":   {tests: []string{"internal/nats/bus TestWatchFailsClosed", "internal/nats/bus TestWatchOfARestoredStore", "test/serving TestLeakedCredentialsAreRevoked"}},
		"A web page reaches a server by its name":      {attacks: []string{"OtherHost"}, tests: []string{"internal/network/httpserver TestAllowHosts", "internal/network/httpserver TestServeGuards", "test/archtest TestServersPassTheGuard"}},
		"A web page restarts engines":                  {tests: []string{"internal/network/httpserver TestPagesOfOtherSites", "internal/engine/supervise TestPagesOfSitesAreRefused"}},
		"A token fills the store of responses":         {tests: []string{"internal/serving/gateway TestStrangersLeaveRoomInTheStore", "internal/serving/gateway TestOnlyKnownFieldsAreStored", "internal/serving/gateway TestLoadingTakesMemory"}},
		"Readers of logs read stored responses":        {tests: []string{"internal/serving/gateway TestIDsOfResponsesAreSecret"}},
		"A runner ends the attempts of others":         {tests: []string{"internal/serving/dispatch TestRunnersEndOnlyTheirOwnAttempts"}},
		"Conditions show what other servers answer":    {tests: []string{"internal/artifact/objectstore/s3 TestTextsOfOtherServersStayOut"}},
		"Pods of strangers reach pods, or are reached": {tests: []string{"functions/router TestPoliciesFence", "functions/router TestRingReachesItself", "functions/router TestPoliciesFollowReports", "functions/router TestPoliciesCanBeSwitchedOff"}},
		"A process exceeds its role in the account": {attacks: []string{
			"RunnerReadsToken", "RunnerMakesConsumer", "RunnerImpersonatesRunner", "RunnerHearsRequests", "GatewayWritesToken", "GatewayReadsPrompts", "GatewayForgesFrames",
			"JobEmptiesBucket", "JobWritesProgressOfOthers", "DispatcherReadsTokens", "ProviderQueuesRequest", "OperatorWritesToken",
		}},
		"A user of one namespace acts in the account of another": {attacks: []string{"MakesProviderUser", "MakesUserOfAll", "MakesUserElsewhere", "ChangesAccount"}, tests: []string{"internal/nats/natsauth TestRevokedUsers"}},
		"Credentials of pods reach folders of other namespaces": {
			attacks: []string{"Reads", "ReadsByDots", "ReadsSibling", "OverwritesByDots", "FillsSharedCache", "ListsFolder", "ListsAll", "Copies", "Deletes", "Uploads", "ReadsFolder", "ReadsFolderBeside", "ReadsWholeBucket", "WritesSharedFolder", "WritesOtherBucket", "ListsFilesOfOthers", "RecordsFilesOfOthers", "DestroysAllFolders", "PublishesAllFolders", "OwnsFirst"},
			tests:   []string{"internal/external/bucket TestCredentialsOfAModel", "internal/external/bucket TestFolderOfTheNamespace", "internal/external/bucket TestFirstTenantOwnsNoSharedBucket", "provider/connpool TestFoldersOfNamespaces"},
		},
		"Claims redirect the connections of Koldun's containers": {
			attacks: []string{"JobReadsOtherHub", "JobTrustsAnyServer", "GatewayOnOtherNATS", "GatewayRunsCommand", "JobReachesAnyHost"},
			tests:   []string{"functions/workload TestClaimsDoNotRedirectConnections", "functions/workload TestValuesHoldNoSecrets", "cmd/koldun TestClaimsSetWhatTheyMay", "cmd/koldun TestClaimsDoNotNameTheHubOfJobs"},
		},
		"A withdrawn grant of a Model serves on":              {attacks: []string{"ServesForeignModel", "LearnsWhetherExists"}, tests: []string{"functions/dllama TestWithdrawnGrantEndsAccess", "functions/router TestRefusedClaimKeepsNoGrant"}},
		"Claims load models that the platform does not allow": {attacks: []string{"OrganisationNotInIt", "OrganisationBeginsSo", "RepositoryOfOthers"}, tests: []string{"provider/connpool TestAllowedHubs", "provider/connpool TestPlatformAllowsHubs", "provider/connpool TestPlatformsListBindsAll"}},
		"What is installed changes under a tag": {tests: []string{
			"package/build TestNoOtherVersion", "package/build TestRelease", "package/build TestRefusedDigests", "package/build TestActionsArePinned",
			"package/build TestWhatIsPushedIsSigned", "package/engines/distributed-llama TestOnePlaceForPins",
		}},
	}
}

// catalogue returns the names of all attacks of this package.
func catalogue() []string {
	return slices.Concat(
		slices.Collect(maps.Keys(managedAttacks())), slices.Collect(maps.Keys(claimAttacks())), slices.Collect(maps.Keys(storeAttacks())),
		slices.Collect(maps.Keys((&target{caller: history.NewTenant("any")}).httpAttacks(""))), slices.Collect(maps.Keys(attacks())),
	)
}

// TestEveryHazardIsTried holds that the attacks and tests of each hazard exist, and that
// there are enough attacks.
func TestEveryHazardIsTried(t *testing.T) {
	t.Parallel()
	all := catalogue()
	if len(all) < 40 {
		t.Errorf("there are %d attacks", len(all))
	}
	for name, h := range hazards() {
		if len(h.attacks)+len(h.tests) == 0 {
			t.Errorf("%s: nothing tries it", name)
		}
		for _, attack := range h.attacks {
			if !slices.Contains(all, attack) {
				t.Errorf("%s: there is no attack %s", name, attack)
			}
		}
		for _, test := range h.tests {
			if folder, function, _ := strings.Cut(test, " "); !declared(t, filepath.Join("..", "..", folder), function) {
				t.Errorf("%s: %s has no test %s", name, folder, function)
			}
		}
	}
}

// declared reports whether the tests of a folder have a function.
func declared(t *testing.T, folder, function string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "\nfunc "+function+"(t *testing.T)")
	})
}
