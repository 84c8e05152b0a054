/**
 * Scope keys: one string per conversation of a person, in any channel. The person is always part of the
 * key, so that no key can lead to another person's session. Pure.
 *
 *     user:{userId}:manual:{sessionId}                   the web page
 *     user:{userId}:slack:{team}:{channel}:{thread}
 *     user:{userId}:github:{owner}/{name}:pr:{number}    or :issue:{number}
 *     user:{userId}:api:{job}
 */
import { createHash } from "node:crypto";
import type { ChannelType } from "./contract.ts";

export interface ChannelAddress {
  channelType?: ChannelType | undefined;
  channelId?: string | undefined;
  scopeKey?: string | undefined;
}

export function webScopeKey(userId: string, sessionId: string): string {
  return `user:${userId}:manual:${sessionId}`;
}

export function isScopeOf(userId: string, scopeKey: string): boolean {
  return scopeKey.startsWith(`user:${userId}:`);
}

/** Returns null for no particular conversation, and for another person's key. */
export function scopeKeyOf(userId: string, address: ChannelAddress): string | null {
  const { channelType, channelId, scopeKey } = address;
  if (scopeKey !== undefined) return isScopeOf(userId, scopeKey) ? scopeKey : null;
  if (channelType === undefined || channelType === "web") return webKey(userId, channelId);
  return channelId === undefined ? null : `user:${userId}:${channelType}:${channelId}`;
}

/** A session's web binding is shown with its whole key; either form may be given. */
function webKey(userId: string, channelId: string | undefined): string | null {
  if (channelId === undefined) return null;
  if (channelId.startsWith("user:")) return isScopeOf(userId, channelId) ? channelId : null;
  return webScopeKey(userId, channelId);
}

/** Returns the channel, which is the third part. */
export function channelTypeOf(scopeKey: string): string {
  const channel = scopeKey.split(":")[2] ?? "";
  return channel === "manual" || channel === "" ? "web" : channel;
}

/** Channels in which people address their orchestrator directly, not from a conversation elsewhere. */
const DIRECT_CHANNELS: ReadonlySet<string> = new Set(["web", "api", "cli"]);
const MAX_THREAD_CHARS = 200;

/** Returns the orchestrator's thread for a conversation; null: the main thread. */
export function threadOf(scopeKey: string): string | null {
  const channel = channelTypeOf(scopeKey);
  if (DIRECT_CHANNELS.has(channel)) return null;
  // Leaves out the person: the orchestrator belongs to them anyway.
  const place = scopeKey.split(":").slice(2).join(":");
  if (place.length <= MAX_THREAD_CHARS) return place;
  return `${channel}:${createHash("sha256").update(place).digest("base64url")}`;
}
