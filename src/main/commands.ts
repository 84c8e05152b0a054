/** Every command of `muster`, in the order of its help. */
import { addApprovalsCommands } from "#features/approvals/cli/index.ts";
import { addAuditCommands } from "#features/audit/cli/index.ts";
import {
  addKeysCommands,
  addLoginCommand,
  addLoginLinkCommand,
  addMcpCommand,
  addPasswordCommand,
} from "#features/auth/cli/index.ts";
import { addInboxCommands } from "#features/mailbox/cli/index.ts";
import { addMemoryCommands } from "#features/memory/cli/index.ts";
import { addOrchestratorCommands } from "#features/orchestrators/cli/index.ts";
import { addMembersCommands } from "#features/orgs/cli/index.ts";
import { addPersonasCommands } from "#features/personas/cli/index.ts";
import { addProvidersCommands } from "#features/providers/cli/index.ts";
import { addReposCommands } from "#features/repos/cli/index.ts";
import { addModelsCommand, addRunnersCommands } from "#features/runners/cli/index.ts";
import { addSearchCommand } from "#features/search/cli/index.ts";
import { addSecretsCommands } from "#features/secrets/cli/index.ts";
import {
  addChatCommand,
  addRunCommand,
  addSessionsCommands,
} from "#features/sessions/cli/index.ts";
import { addStorageCommands } from "#features/storage/cli/index.ts";
import { addOrchestrationCommands } from "#features/supervision/cli/index.ts";
import { addTasksCommands } from "#features/tasks/cli/index.ts";
import { addUsageCommand } from "#features/usage/cli/index.ts";
import {
  type AddCommand,
  addBackupCommand,
  addDoctorCommand,
  addRestoreCommand,
  addStartCommands,
} from "#surfaces/cli/index.ts";

export const commands: readonly AddCommand[] = [
  addStartCommands,
  addChatCommand,
  addRunCommand,
  addOrchestratorCommands,
  addSessionsCommands,
  addMemoryCommands,
  addSearchCommand,
  addOrchestrationCommands,
  addTasksCommands,
  addInboxCommands,
  addApprovalsCommands,
  addRunnersCommands,
  addModelsCommand,
  addPersonasCommands,
  addProvidersCommands,
  addReposCommands,
  addSecretsCommands,
  addUsageCommand,
  addStorageCommands,
  addAuditCommands,
  addLoginCommand,
  addLoginLinkCommand,
  addPasswordCommand,
  addKeysCommands,
  addMcpCommand,
  addMembersCommands,
  addDoctorCommand,
  addBackupCommand,
  addRestoreCommand,
];
