export { admitNotice, type NoticeSender, platformSender } from "./admit-notice.ts";
export { deliverAtEnd } from "./deliver-at-end.ts";
export {
  deliverNotice,
  findOpenPrompt,
  isOpen,
  type NoticeSource,
  refreshNotice,
} from "./deliver-notice.ts";
